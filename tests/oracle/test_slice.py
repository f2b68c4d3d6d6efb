"""A slice of the corpus on each database: what ``make test`` sees of the oracle.

Guarded on the whole database, a query gives what it gives on the principal's own copy. The long
runs beside this file judge more queries, of more principals, and from more sources.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from nl2sql.types import Principal
from tests.oracle.corpus import Query
from tests.oracle.demo import PRINCIPALS as DEMO_PRINCIPALS
from tests.oracle.runs import judge_queries, list_queries
from tests.oracle.shop import PRINCIPALS, open_shop_file
from tests.oracle.stage import PostgresStage, Subject
from tests.oracle.tally import Tally
from tests.oracle.verdicts import Judge, Kind

# Queries for each principal.
_MOST = 100
_CHOSEN = {"sqlite": PRINCIPALS["sqlite"][:3:2], "duckdb": PRINCIPALS["duckdb"][:2]}

pytestmark = pytest.mark.quick


def test_on_postgresql(stage: PostgresStage) -> None:
    principal, subject = DEMO_PRINCIPALS[0], stage.subjects[0]
    check(subject, [(principal, stage.judge(principal, subject))])


@pytest.mark.parametrize("dialect", _CHOSEN)
def test_on_a_file(dialect: str, tmp_path: Path) -> None:
    with open_shop_file(dialect, tmp_path) as stage:
        tally = check(stage.subject, [(who, stage.judge(who)) for who in _CHOSEN[dialect]])
    # DuckDB reads whatever the guard reads.
    assert dialect == "sqlite" or not tally.count(Kind.LENIENT), tally.render()


def check(subject: Subject, judges: list[tuple[Principal, Judge]]) -> Tally:
    """No mismatch; few harmless queries refused, few set aside; the guard had something to do."""
    rng, tally = random.Random(7), Tally()
    # The corpus has no wrappers for DuckDB: its grammar writes what the long runs judge there.
    queries = (
        [Query(title, "gold", sql) for title, sql in subject.golds]
        if subject.catalog.dialect == "duckdb"
        else list_queries(subject.catalog, subject.golds)
    )
    for principal, judge in judges:
        judge_queries(judge, principal, rng.sample(queries, min(_MOST, len(queries))), tally)
    assert not tally.mismatches, tally.render()
    assert tally.refused_share <= 0.05, tally.render()
    assert tally.unsettled_share <= 0.05, tally.render()
    assert tally.telling >= _MOST / 5, tally.render()
    return tally
