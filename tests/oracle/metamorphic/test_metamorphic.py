"""What is hidden may change: no answer, error or type that a principal sees does.

`python -m tests.oracle metamorphic` judges many more pairs, and how long they take. Without the
security barrier, and with one that does not keep statistics back, the check finds what they tell.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from execution.postgres.embedded import EmbeddedServer
from nl2sql.types import GuardedQuery
from tests.attacks.attack import ENGINES
from tests.oracle.corpus import Query
from tests.oracle.metamorphic import warehouse
from tests.oracle.metamorphic.pairs import Pairs
from tests.oracle.metamorphic.stores import FileStore, PostgresStore
from tests.oracle.metamorphic.verdicts import Kind, PairTally
from tests.oracle.metamorphic.warehouse import Change

# Of the items, one who owns none sees nothing: whatever a query tells is hidden.
ZED = warehouse.PRINCIPALS[1]

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
def pairs(embedded_server: EmbeddedServer) -> Iterator[Pairs]:
    """Pairs of the warehouse in PostgreSQL."""
    with closing(Pairs(PostgresStore(embedded_server))) as built:
        yield built


@pytest.mark.parametrize("dialect", ENGINES)
def test_the_warehouse_changes_unseen(
    dialect: str, embedded_server: EmbeddedServer, tmp_path: Path
) -> None:
    is_server = dialect == "postgres"
    store = PostgresStore(embedded_server) if is_server else FileStore(tmp_path, dialect)
    with closing(Pairs(store)) as built:
        tally = built.judge(warehouse.PRINCIPALS, random.Random(7), pairs=300)
    check(tally, 200)


def test_statistics_tell_nothing(pairs: Pairs) -> None:
    check(judge_telling(pairs, "whole"), len(TELLING))


@pytest.mark.parametrize("barrier", ["none", "offset"])
def test_without_the_barrier_statistics_tell(barrier: str, pairs: Pairs) -> None:
    tally = judge_telling(pairs, barrier)
    told = {
        finding.name.split()[0]: finding for finding in tally.kept if finding.kind is Kind.DIFFERENT
    }
    assert set(told) == set(TELLING), tally.render()
    assert "22025" in told["ilike"].detail
    assert "22003" in told["ranges"].detail


@pytest.mark.parametrize(
    ("change", "statement"),
    [
        (Change.ODD, "SELECT max(pay) AS n FROM items WHERE owner = 'bob'"),
        (Change.SAME, "SELECT name FROM items WHERE owner = 'bob'"),
        (Change.NULLS, "SELECT count(amount) AS n FROM batches"),
        (Change.DELETED, "SELECT count(*) AS n FROM parts"),
        (Change.ADDED, "SELECT count(*) AS n FROM secrets"),
    ],
)
def test_a_guard_that_hides_nothing_is_found_out(
    change: Change, statement: str, tmp_path: Path
) -> None:
    tally = PairTally()
    with closing(Pairs(FileStore(tmp_path, "sqlite"))) as built:
        guarded = guard_query(statement, open_access(built.catalog))
        assert isinstance(guarded, GuardedQuery)
        asked = [(Query("made", "open", statement), guarded)]
        built.judge_queries(ZED, asked, tally, changes=[change])
    assert len(tally.leaks) == 1, tally.render()


def judge_telling(pairs: Pairs, barrier: str) -> PairTally:
    """The verdicts on ``TELLING`` behind the security barrier, half of it, or none."""
    guard = pairs.build_guard(ZED, barrier=barrier != "none")
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
