"""A slice of the corpus on each database: what ``make test`` sees of the oracle.

Guarded on the whole database, a query gives what it gives on the principal's own copy. The long
runs beside this file judge more queries, of more principals, and from more sources.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nl2sql.types import Principal
from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.sqlite.shop import build_shop
from tests.golden import load_pairs
from tests.oracle.corpus import Query
from tests.oracle.demo import PRINCIPALS as DEMO_PRINCIPALS
from tests.oracle.duckdb_stage import DuckDbStage
from tests.oracle.grants import read_policy
from tests.oracle.runs import judge_queries, list_queries
from tests.oracle.shop_fuzz import DUCKDB_PRINCIPALS, SQLITE_PRINCIPALS
from tests.oracle.sqlite_stage import SqliteStage
from tests.oracle.stage import PostgresStage, Subject
from tests.oracle.tally import Tally
from tests.oracle.verdicts import Judge

_FOLDER = Path(__file__).parent
# Queries for each principal.
_MOST = 100
_FILES = {
    "sqlite": (build_shop, "shop_policy.yaml", SQLITE_PRINCIPALS[:3:2]),
    "duckdb": (duckdb_shop.build_shop, "shop_duckdb_policy.yaml", DUCKDB_PRINCIPALS[:2]),
}

pytestmark = pytest.mark.quick


def test_on_postgresql(stage: PostgresStage) -> None:
    principal, subject = DEMO_PRINCIPALS[0], stage.subjects[0]
    check(subject, [(principal, stage.judge(principal, subject))])


@pytest.mark.parametrize("dialect", _FILES)
def test_on_a_file(dialect: str, tmp_path: Path) -> None:
    with open_file(dialect, tmp_path) as stage:
        check(stage.subject, [(each, stage.judge(each)) for each in _FILES[dialect][2]])


@contextmanager
def open_file(dialect: str, folder: Path) -> Iterator[SqliteStage | DuckDbStage]:
    """The shop; what analysts write of it are the guard's harmless queries."""
    build, policy, _ = _FILES[dialect]
    path = folder / f"shop.{dialect}"
    catalog = build(path)
    golds = [(pair.title, pair.before) for pair in load_pairs(f"guard_{dialect}")]
    subject = Subject("shop", catalog, read_policy(_FOLDER / policy), golds)
    stage = (SqliteStage if dialect == "sqlite" else DuckDbStage)(path, subject, folder)
    try:
        yield stage
    finally:
        stage.close()


def check(subject: Subject, judges: list[tuple[Principal, Judge]]) -> None:
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
