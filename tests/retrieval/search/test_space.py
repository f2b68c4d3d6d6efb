"""What searching knows of a visible catalog."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nl2sql.catalog import Catalog, Table
from nl2sql.types import Principal
from retrieval.indexing import index_database
from retrieval.search.space import SearchSpace, SearchSpaces
from tests.fakes import SHOP, FakeEmbedder, FakeIndexStore, FakeVisibility, build_table

NOBODY = Principal("nobody")


async def build(
    catalog: Catalog = SHOP, hidden: frozenset[str] = frozenset()
) -> tuple[SearchSpace, FakeEmbedder]:
    store, embedder = FakeIndexStore(), FakeEmbedder()
    await index_database(catalog, store, embedder)
    embedder.texts.clear()
    visible = await FakeVisibility(store, hidden).visible_catalog(catalog.database, NOBODY)
    assert isinstance(visible, Catalog)
    return await SearchSpaces(store, embedder).find(visible), embedder


async def test_who_sees_all_searches_without_masks_and_embeds_nothing() -> None:
    space, embedder = await build()
    assert (space.table_mask, space.column_mask, embedder.texts) == (None, None, [])
    assert space.rows.tolist() == space.tables_at.tolist() == list(range(6))


async def test_a_hidden_table_is_masked_and_its_neighbours_do_not_know_it() -> None:
    space, _ = await build(hidden=frozenset({"sales.orders"}))
    assert space.table_mask is not None
    assert space.table_mask.positions.tolist() == [0, 1, 2, 4, 5]
    assert {key for near in space.neighbours.values() for key in near} <= set(range(5))
    assert all(key.target != "sales.orders" for keys in space.keys.values() for key in keys)


async def test_a_column_card_is_masked_when_all_of_its_columns_are_hidden() -> None:
    hidden = frozenset({"sales.customers.name", "sales.customers.Loyalty Tier"})
    space, _ = await build(hidden=hidden)
    assert space.column_mask is not None
    seen = {space.column_cards[at].text for at in space.column_mask.positions}
    assert "name" in seen
    assert "loyalty tier" not in seen
    name = next(at for at, card in enumerate(space.column_cards) if card.text == "name")
    assert {space.catalog.tables[table].name for table in space.columns_at(name)} == {
        "employees",
        "products",
    }


async def test_a_table_with_a_hidden_column_is_embedded_from_the_others() -> None:
    space, embedder = await build(hidden=frozenset({"sales.customers.Loyalty Tier"}))
    assert embedder.texts == [
        "customer (sale). People and companies who buy Columns: id, name, country."
    ]
    assert list(space.own) == [0]
    assert space.rows[0] == -1
    vector = FakeEmbedder().embed(["customer"])[0]
    cosines = space.cosines([0, 3], vector)
    assert cosines[0] == pytest.approx(float(space.own[0] @ vector))
    assert space.keywords.score(["loyalty"])[0] == 0
    assert space.keywords.score(["iso"])[0] > 0


async def test_a_commonplace_column_stands_for_no_table() -> None:
    tables: tuple[Table, ...] = tuple(
        build_table(f"s.t{number}", "id integer") for number in range(201)
    )
    space, _ = await build(Catalog("many", tables))
    assert space.columns_at(0) == {}


async def test_names_with_dots_are_resolved() -> None:
    odd = Catalog("odd", (build_table("s.t", "x.y integer"), build_table("s.t.x", "z integer")))
    space, _ = await build(odd)
    found = {
        (table, column)
        for at in range(len(space.column_cards))
        for table, columns in space.columns_at(at).items()
        for column in columns
    }
    assert found == {(0, "x.y"), (1, "z")}


async def test_a_space_is_made_once_a_catalog() -> None:
    store, embedder = FakeIndexStore(), FakeEmbedder()
    await index_database(SHOP, store, embedder)
    spaces = SearchSpaces(store, embedder)
    loads = len(store.loads)
    same = [await spaces.find(SHOP) for _ in range(2)]
    other = await spaces.find(replace(SHOP, tables=SHOP.tables[:2], foreign_keys=()))
    assert same[0] is same[1]
    assert other is not same[0]
    assert len(store.loads) == loads + 1
    assert np.shares_memory(other.vectors, same[0].vectors)
