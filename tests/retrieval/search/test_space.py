"""What searching knows of a visible catalog."""

from __future__ import annotations

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
