"""The oracle on SQLite: the shop of the tests, and a sample of Spider where it is at hand."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from nl2sql.types import GuardedQuery, Principal
from tests.oracle.corpus import Query
from tests.oracle.file_stage import FileStage
from tests.oracle.fuzz import aim_at_all, throw_statements
from tests.oracle.mutations import iterate_mutations
from tests.oracle.runs import judge_queries, judge_spider, list_queries
from tests.oracle.shop import PRINCIPALS, open_shop_file
from tests.oracle.tally import Tally

BENCH = os.environ.get("QUORUMSQL_BENCH", "")
SECONDS = 10

# A column that is masked has to compare as it did: as what it was declared.
AFFINITIES = [
    ("text_with_number", "SELECT id FROM orders WHERE placed_at > 2023"),
    ("number_with_text", "SELECT id FROM orders WHERE total > '7'"),
    ("text_is_number", "SELECT id, placed_at < 3000 AS x, total = '20' AS y FROM orders"),
]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[FileStage]:
    """The shop with its policy."""
    with open_shop_file("sqlite", tmp_path) as stage:
        yield stage


def list_shop_queries(shop: FileStage) -> list[Query]:
    return list_queries(shop.subject.catalog, [*shop.subject.golds, *AFFINITIES])


def test_the_corpus_over_the_shop(shop: FileStage) -> None:
    rng, queries, tally = random.Random(7), list_shop_queries(shop), Tally()
    for principal in (*PRINCIPALS["sqlite"], Principal("owner", ("owner",))):
        judge_queries(shop.judge(principal), principal, rng.sample(queries, 500), tally)
    assert not tally.mismatches, tally.render()
    assert tally.refused_share < 0.02, tally.render()
    assert tally.unsettled_share < 0.01, tally.render()
    assert tally.telling >= 500, tally.render()


def test_random_statements_do_no_harm(shop: FileStage) -> None:
    targets = [shop.build_target(principal) for principal in PRINCIPALS["sqlite"]]
    queries = [query.sql for query in list_shop_queries(shop)]
    statements = iterate_mutations(queries, random.Random(7), dialect="sqlite")
    report = throw_statements(
        aim_at_all(targets, statements), seconds=SECONDS, describe=shop.describe
    )
    assert not report.troubles, report.render()
    assert report.rows >= 20, report.render()


@pytest.mark.parametrize(
    ("statement", "trouble"),
    [
        ("SELECT total FROM orders", "mismatch"),
        ("DELETE FROM orders", "bob_whole.sqlite: "),
    ],
)
def test_harm_would_be_found(shop: FileStage, statement: str, trouble: str) -> None:
    target = shop.build_target(PRINCIPALS["sqlite"][0])
    target.guard = lambda text: GuardedQuery("shop", text, (), dialect="sqlite")
    aimed = aim_at_all([target], iter([("made", statement)]))
    report = throw_statements(aimed, seconds=60, describe=shop.describe)
    assert any(trouble in text for text in report.troubles), report.render()


@pytest.mark.skipif(not BENCH, reason="QUORUMSQL_BENCH names no folder of benchmarks")
def test_a_sample_of_spider() -> None:
    tally = judge_spider(Path(BENCH) / "spider", random.Random(7), most=25, databases=20)
    assert not tally.mismatches, tally.render()
    assert tally.refused_share < 0.02, tally.render()
    assert tally.telling > tally.total / 10, tally.render()
