"""The oracle on SQLite: the shop of the tests, and a sample of Spider where it is at hand."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from nl2sql.types import GuardedQuery, Principal
from tests.execution.sqlite.shop import build_shop
from tests.golden import load_pairs
from tests.oracle.fuzz import throw_statements
from tests.oracle.grants import read_policy
from tests.oracle.mutations import iterate_mutations
from tests.oracle.runs import judge_queries, judge_spider, list_queries
from tests.oracle.sqlite_stage import SqliteStage
from tests.oracle.stage import Subject
from tests.oracle.tally import Tally

BENCH = os.environ.get("QUORUMSQL_BENCH", "")
SECONDS = 10

PRINCIPALS = (
    Principal("bob", ("buyer",), (("customer", 2),)),
    Principal("nobody", ("buyer",), (("customer", 77),)),
    Principal("clerk", ("clerk",), (("statuses", ("open", "paid")),)),
    Principal("both", ("buyer", "clerk"), (("customer", 2), ("statuses", ("paid",)))),
    Principal("owner", ("owner",)),
)

# A column that is masked has to compare as it did: as what it was declared.
AFFINITIES = [
    ("text_with_number", "SELECT id FROM orders WHERE placed_at > 2023"),
    ("number_with_text", "SELECT id FROM orders WHERE total > '7'"),
    ("text_is_number", "SELECT id, placed_at < 3000 AS x, total = '20' AS y FROM orders"),
]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[SqliteStage]:
    """The shop with its policy; what analysts write of it are the guard's harmless queries."""
    path = tmp_path / "shop.sqlite"
    catalog = build_shop(path)
    golds = [(pair.title, pair.before) for pair in load_pairs("guard_sqlite")]
    golds += AFFINITIES
    policy = read_policy(Path(__file__).parent / "shop_policy.yaml")
    stage = SqliteStage(path, Subject("shop", catalog, policy, golds), tmp_path)
    yield stage
    stage.close()


def test_the_corpus_over_the_shop(shop: SqliteStage) -> None:
    rng = random.Random(7)
    queries = list_queries(shop.subject.catalog, shop.subject.golds)
    tally = Tally()
    for principal in PRINCIPALS:
        judge_queries(shop.judge(principal), principal, rng.sample(queries, 500), tally)
    assert not tally.mismatches, tally.render()
    assert tally.refused_share < 0.02, tally.render()
    assert tally.unsettled_share < 0.01, tally.render()
    assert tally.telling >= 500, tally.render()


def test_random_statements_do_no_harm(shop: SqliteStage) -> None:
    targets = [shop.build_target(principal) for principal in PRINCIPALS[:4]]
    queries = [query.sql for query in list_queries(shop.subject.catalog, shop.subject.golds)]
    statements = iterate_mutations(queries, random.Random(7), dialect="sqlite")
    report = throw_statements(targets, statements, seconds=SECONDS, describe=shop.describe)
    assert not report.troubles, report.render()
    assert report.rows >= 20, report.render()


@pytest.mark.parametrize(
    ("statement", "trouble"),
    [
        ("SELECT total FROM orders", "mismatch"),
        ("DELETE FROM orders", "bob_whole.sqlite: "),
    ],
)
def test_harm_would_be_found(shop: SqliteStage, statement: str, trouble: str) -> None:
    target = shop.build_target(PRINCIPALS[0])
    target.guard = lambda text: GuardedQuery("shop", text, (), dialect="sqlite")
    statements = iter([("made", statement)])
    report = throw_statements([target], statements, seconds=60, describe=shop.describe)
    assert any(trouble in text for text in report.troubles), report.render()


@pytest.mark.skipif(not BENCH, reason="QUORUMSQL_BENCH names no folder of benchmarks")
def test_a_sample_of_spider() -> None:
    tally = judge_spider(Path(BENCH) / "spider", random.Random(7), most=25, databases=20)
    assert not tally.mismatches, tally.render()
    assert tally.refused_share < 0.02, tally.render()
    assert tally.telling > tally.total / 10, tally.render()
