"""Files of examples, and how their pairs become examples on a real PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from nl2sql.errors import SettingsError
from nl2sql.types import Principal
from retrieval.embedding.embedder import Embedder
from retrieval.examples.importing import ImportReport, import_pairs, refresh_examples
from retrieval.examples.pairs import Pair, read_pairs
from retrieval.examples.records import name_vectors
from tests.fakes import FakeEmbedder
from tests.retrieval.examples.conftest import Shop
from tests.retrieval.index_store.conftest import execute

BOSS = Principal("boss", ("boss",))
GOOD = Pair(question="How many orders are there?", sql="SELECT count(*) FROM orders;")
ALSO = Pair(question="Who sells?", sql="SELECT name FROM employees", roles=("boss", "seller"))
BAD = Pair(question="What breaks?", sql="SELECT nothing FROM orders")


async def bring_in(
    shop: Shop,
    *pairs: Pair,
    embedder: Embedder | None = None,
    principal: Principal = BOSS,
) -> ImportReport:
    return await import_pairs(
        "shop",
        pairs,
        principal,
        dialect="postgres",
        store=shop.examples,
        verifier=shop.verifier(),
        embedder=embedder or shop.embedder,
    )


async def test_what_is_verified_is_stored_and_the_rest_named(shop: Shop) -> None:
    report = await bring_in(shop, GOOD, BAD, ALSO)
    assert (report.stored, report.known) == (2, 0)
    [left_out] = report.left_out
    assert (left_out.number, left_out.question) == (2, "What breaks?")
    assert "nothing" in left_out.reason
    examples = {example.question: example for example in await shop.examples.list_examples("shop")}
    assert examples[GOOD.question].sql == "SELECT count(*) FROM orders"
    assert examples[GOOD.question].tables == ("sales.orders",)
    assert examples[ALSO.question].roles == ("boss", "seller")
    assert {(example.source, example.access) for example in examples.values()} == {("file", "")}


async def test_the_same_file_again_verifies_and_embeds_nothing(shop: Shop) -> None:
    await bring_in(shop, GOOD, ALSO)
    embedder = FakeEmbedder()
    report = await bring_in(shop, GOOD, ALSO, embedder=embedder)
    assert (report.stored, report.known, embedder.texts) == (0, 2, [])


async def test_a_pair_that_is_repeated_is_said_to_be_left_out(shop: Shop) -> None:
    for pair, stored in ((GOOD, 1), (BAD, 0)):
        report = await bring_in(shop, pair, pair)
        assert (report.stored, report.known, len(report.left_out)) == (stored, 0, 2 - stored)


async def test_an_import_goes_on_where_it_was_killed(shop: Shop) -> None:
    pairs = [Pair(question=f"Order {at}?", sql=f"SELECT {at} FROM orders") for at in range(100)]

    class Killed(FakeEmbedder):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            if self.texts:
                raise RuntimeError("killed")
            return super().embed(texts)

    with pytest.raises(RuntimeError, match="killed"):
        await bring_in(shop, *pairs, embedder=Killed())
    embedder = FakeEmbedder()
    report = await bring_in(shop, *pairs, embedder=embedder)
    assert (report.stored, report.known, len(embedder.texts)) == (36, 64, 36)


async def test_another_embedder_embeds_everything_once(shop: Shop) -> None:
    await bring_in(shop, GOOD, ALSO)
    other = FakeEmbedder("other")
    steps: list[tuple[int, int]] = []
    done = await refresh_examples(
        "shop",
        "postgres",
        shop.store,
        other,
        progress=lambda done, total: steps.append((done, total)),
    )
    assert (done, steps) == (2, [(2, 2)])
    examples = await shop.examples.list_examples("shop")
    assert [each.embedder for each in examples] == [name_vectors("other")] * 2
    assert await refresh_examples("shop", "postgres", shop.store, other) == 0


async def test_what_was_removed_while_it_was_embedded_again_stays_away(
    shop: Shop, index_url: str
) -> None:
    class Slow(FakeEmbedder):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            execute(index_url, "DELETE FROM quorumsql.examples WHERE roles = '{}'")
            return super().embed(texts)

    await bring_in(shop, GOOD, ALSO)
    await refresh_examples("shop", "postgres", shop.store, Slow("other"))
    assert [each.question for each in await shop.examples.list_examples("shop")] == [ALSO.question]


def test_reads_lines_with_and_without_roles(tmp_path: Path) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text(
        '{"question": "How\u2028many?", "sql": "SELECT 1"}\n\n'
        '{"question": "Who?", "sql": "SELECT 2", "roles": ["clerk"]}\n',
        encoding="utf-8",
    )
    assert read_pairs(path) == (
        Pair(question="How\u2028many?", sql="SELECT 1"),
        Pair(question="Who?", sql="SELECT 2", roles=("clerk",)),
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[1]", "line 1"),
        ("{", "is not JSON"),
        ('{"question": "q"}', "sql: Field required"),
        ('{"question": "", "sql": "s"}', "question: String should have at least 1"),
        ('{"question": "q", "sql": "s", "role": "x"}', "role: Extra inputs"),
        ('{"question": "q", "sql": "s", "roles": "x"}', "roles"),
        ('{"question": "q", "sql": "' + "x" * 5000 + '"}', "sql: String should have at most"),
        ('{"question": "q", "sql": "s", "access": "abc"}', "access: Extra inputs"),
        ('{"question": "q\\u0000", "sql": "s"}', "null character"),
        ('{"question": "q", "sql": "s", "verified_at": "9999-01-01"}', "in the future"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"examples\.jsonl, line 1") as error:
        read_pairs(path)
    assert said in str(error.value)
