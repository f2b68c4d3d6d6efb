"""What is hidden may change: no answer, error or type that a principal sees does.

`python -m tests.oracle metamorphic` judges many more pairs, and how long they take. Without the
security barrier, and with one that does not keep statistics back, the check finds what they tell.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from execution.postgres.embedded import EmbeddedServer
from nl2sql.types import GuardedQuery
from tests.oracle.corpus import Query
from tests.oracle.demo import PRINCIPALS as DEMO_PRINCIPALS
from tests.oracle.metamorphic import warehouse
from tests.oracle.metamorphic.file_pairs import FilePairs
from tests.oracle.metamorphic.postgres_changes import Change
from tests.oracle.metamorphic.postgres_pairs import PostgresPairs
from tests.oracle.metamorphic.verdicts import Kind, PairTally
from tests.oracle.stage import PostgresStage, Subject, build_guarding

# Of the items, one who owns none sees nothing: whatever a query tells is hidden.
ZED = warehouse.PRINCIPALS[1]
CHANGES = (Change.ODD, Change.DELETED)

# PostgreSQL computes these while it plans, on values that ANALYZE has sampled.
TELLING = {
    "ilike": r"SELECT count(*) AS n FROM items WHERE name ILIKE 'hida\'",
    "like_in_a_join": "SELECT count(*) AS n FROM parts AS p JOIN items AS i "
    r"ON i.id = p.item_id AND i.name NOT LIKE '%hida\'",
    "ilike_over_a_cte": "WITH w AS MATERIALIZED (SELECT * FROM items) "
    r"SELECT count(*) AS n FROM w WHERE name ILIKE ANY (ARRAY['x', 'hida\'])",
    "ranges": "SELECT count(*) AS n FROM items WHERE period && '[0,1)'",
}
_SECOND_PART = re.compile(r" UNION ALL SELECT (?:(?! UNION ALL ).)*? WHERE FALSE(?= OFFSET 0)")


@pytest.fixture(scope="module")
def stock(embedded_server: EmbeddedServer) -> Iterator[PostgresStage]:
    """The warehouse in PostgreSQL."""
    built = warehouse.open_warehouse(embedded_server)
    yield built
    built.close()


@pytest.fixture(scope="module")
def pairs(embedded_server: EmbeddedServer, stock: PostgresStage) -> Iterator[PostgresPairs]:
    """Pairs of it."""
    built = PostgresPairs(embedded_server, stock)
    yield built
    built.close()


def test_the_demo_changes_unseen(embedded_server: EmbeddedServer, stage: PostgresStage) -> None:
    built = PostgresPairs(embedded_server, stage)
    tally = built.judge(DEMO_PRINCIPALS[:1], random.Random(5), pairs=60, changes=CHANGES[:1])
    built.close()
    check(tally, 55)


def test_the_warehouse_changes_unseen(pairs: PostgresPairs) -> None:
    who = warehouse.PRINCIPALS[:2]
    check(pairs.judge(who, random.Random(6), pairs=200, changes=CHANGES), 190)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_files_change_unseen(dialect: str, tmp_path: Path) -> None:
    built = FilePairs(tmp_path, dialect)
    check(built.judge(warehouse.PRINCIPALS[:1], random.Random(7), pairs=100), 90)
    built.close()


def test_statistics_tell_nothing(pairs: PostgresPairs, stock: PostgresStage) -> None:
    check(judge_telling(pairs, stock.subject, "barrier"), len(TELLING))


@pytest.mark.parametrize("barrier", ["none", "offset"])
def test_without_the_barrier_statistics_tell(
    barrier: str, pairs: PostgresPairs, stock: PostgresStage
) -> None:
    tally = judge_telling(pairs, stock.subject, barrier)
    told = {finding.pair.name.split()[0]: finding for finding in tally.list_kept(Kind.DIFFERENT)}
    assert set(told) == set(TELLING), tally.render()
    assert "22025" in told["ilike"].detail
    assert "22003" in told["ranges"].detail


def judge_telling(pairs: PostgresPairs, subject: Subject, barrier: str) -> PairTally:
    """The verdicts on ``TELLING`` behind the security barrier, half of it, or none."""
    guard = build_guarding(subject.policy, subject.catalog, ZED, barrier=barrier != "none")
    queries = []
    for name, text in TELLING.items():
        guarded = guard(text)
        assert isinstance(guarded, GuardedQuery), guarded
        if barrier == "offset":
            halved = replace(guarded, sql=_SECOND_PART.sub("", guarded.sql))
            assert halved != guarded
            guarded = halved
        queries.append((Query(name, "telling", text), guarded))
    tally = PairTally()
    pairs.judge_queries(ZED, queries, tally, changes=(Change.ODD,))
    return tally


def check(tally: PairTally, least: int) -> None:
    """Nothing differs, of at least so many pairs."""
    assert not tally.leaks, tally.render()
    assert tally.total >= least, tally.render()
