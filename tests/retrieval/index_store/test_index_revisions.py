"""The revision of what the index tells: it changes with the index, the values and the examples."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from nl2sql.catalog import Catalog
from nl2sql.errors import IndexUnavailable
from retrieval.catalogs import IndexedCatalogs
from retrieval.index_revisions import IndexRevisions
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.store import IndexStore
from retrieval.index_store.value_store import ValueStore
from retrieval.index_store.verified_example import VerifiedExample
from retrieval.semantics.layer import SemanticLayer
from retrieval.semantics.semantics_file import SemanticsFile
from retrieval.values.memory import ValueMemory
from tests.fakes import SHOP
from tests.retrieval.indexed import index
from tests.retrieval.semantics.files import build_file

EXAMPLE = VerifiedExample(
    database="shop",
    id="e1",
    question="How many orders?",
    masked="How many orders?",
    sql="SELECT count(*) FROM orders",
    form="SELECT",
    tables=("sales.orders",),
    source="file",
    given_by="ann",
    access="",
    roles=(),
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)
VECTORS = np.zeros((1, 4), dtype=np.float32)


def build(store: IndexStore) -> IndexRevisions:
    """As a process that has just started: nothing that was read before is still in use."""
    memory = ValueMemory(ValueStore(store), {"shop": 10}, fresh_s=0.0)
    return IndexRevisions(IndexedCatalogs(store), memory, ExampleStore(store))


async def test_it_changes_with_each_part_and_never_returns(store: IndexStore) -> None:
    await index(store)
    examples, values = ExampleStore(store), ValueStore(store)
    seen = [await build(store).revision("shop")]
    assert await build(store).revision("shop") == seen[0]

    fewer = Catalog("shop", SHOP.tables[1:], search_path=SHOP.search_path)
    for catalog in (fewer, SHOP):
        await index(store, catalog)
        seen.append(await build(store).revision("shop"))
    await values.publish("shop")
    seen.append(await build(store).revision("shop"))
    for example in (EXAMPLE, replace(EXAMPLE, sql="SELECT 2"), EXAMPLE):
        await examples.put([example], VECTORS, "fake")
        seen.append(await build(store).revision("shop"))
    await examples.remove("shop", ["e1"])
    assert await build(store).revision("shop") == seen[3]
    await examples.put([EXAMPLE], VECTORS, "fake")
    seen.append(await build(store).revision("shop"))
    assert len(set(seen)) == len(seen)


async def test_it_changes_with_the_definitions(store: IndexStore) -> None:
    await index(store)
    catalogs = IndexedCatalogs(store)
    memory = ValueMemory(ValueStore(store), {"shop": 10}, fresh_s=0.0)

    async def read(**files: SemanticsFile) -> str:
        layer = SemanticLayer(files, catalogs)
        return await IndexRevisions(catalogs, memory, ExampleStore(store), layer).revision("shop")

    one, other = (build_file(filters={"new": f"orders.status = '{s}'"}) for s in ("open", "new"))
    plain = await build(store).revision("shop")
    assert await read(elsewhere=one) == plain
    assert len({plain, await read(shop=one), await read(shop=other)}) == 3


async def test_another_database_does_not_matter(store: IndexStore) -> None:
    await index(store)
    before = await build(store).revision("shop")
    await index(store, replace(SHOP, database="other"))
    await ExampleStore(store).put([replace(EXAMPLE, database="other")], VECTORS, "fake")
    await ValueStore(store).publish("other")
    assert await build(store).revision("shop") == before


async def test_a_database_without_an_index_has_none(store: IndexStore) -> None:
    with pytest.raises(IndexUnavailable):
        await build(store).revision("shop")
