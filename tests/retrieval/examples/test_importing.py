"""Pairs of a file become examples, on a real PostgreSQL."""

from __future__ import annotations

import pytest

from nl2sql.types import Principal
from retrieval.embedding.embedder import Embedder
from retrieval.examples.importing import ImportReport, Pair, import_pairs, refresh_examples
from retrieval.examples.masking import name_vectors
from tests.fakes import FakeEmbedder
from tests.retrieval.examples.conftest import Shop

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
    report = await bring_in(shop, GOOD, ALSO, GOOD, embedder=embedder)
    assert (report.stored, report.known, embedder.texts) == (0, 3, [])


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


async def test_other_roles_for_a_pair_take_the_place_of_the_old_ones(shop: Shop) -> None:
    await bring_in(shop, GOOD)
    narrower = GOOD.model_copy(update={"roles": ("boss",)})
    assert (await bring_in(shop, narrower)).stored == 1
    assert [example.roles for example in await shop.examples.list_examples("shop")] == [("boss",)]


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
    assert set((await shop.examples.list_embedded("shop")).values()) == {
        (name_vectors("other"), ()),
        (name_vectors("other"), ("boss", "seller")),
    }
    assert await refresh_examples("shop", "postgres", shop.store, other) == 0
