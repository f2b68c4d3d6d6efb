"""Introspection and the index, on a real PostgreSQL with pgvector."""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest

from execution.embedded import READER, EmbeddedServer
from nl2sql.catalog import Catalog
from nl2sql.errors import DatabaseUnavailable, IndexUnavailable
from retrieval.catalogs import IndexedCatalogs
from retrieval.embedder import Embedder
from retrieval.index_store.postgres_catalog import read_postgres_catalog
from retrieval.index_store.store import IndexStore
from retrieval.indexing import index_database
from serve_app.wiring import Wiring


@pytest.fixture
async def store(wiring: Wiring) -> AsyncIterator[IndexStore]:
    built = wiring.build_index_store()
    yield built
    await built.close()


@pytest.fixture
def odd_database(embedded_server: EmbeddedServer) -> str:
    """A database with what a schema may hold besides plain tables."""
    embedded_server.drop_database("odd")
    embedded_server.create_database("odd")
    url = embedded_server.url("odd", "postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            f'''
            CREATE TABLE "Odd ""Name""" ("Größe" int, "select" text, "🙂" date);
            CREATE TABLE tree (id int PRIMARY KEY, parent int REFERENCES tree);
            CREATE TABLE pair (a int, b int, PRIMARY KEY (a, b));
            CREATE TABLE leaf (x int, y int, FOREIGN KEY (y, x) REFERENCES pair (b, a));
            CREATE TABLE hidden (id int);
            CREATE TABLE part_hidden (shown int, secret int);
            CREATE TABLE parent_p (id int, d date) PARTITION BY RANGE (d);
            CREATE TABLE child_p PARTITION OF parent_p FOR VALUES FROM ('2024-01-01')
                TO ('2025-01-01');
            CREATE VIEW seen AS SELECT id FROM tree;
            CREATE MATERIALIZED VIEW kept AS SELECT id FROM tree;
            COMMENT ON TABLE tree IS 'It''s a tree';
            COMMENT ON COLUMN tree.parent IS 'Up';
            GRANT SELECT ON ALL TABLES IN SCHEMA public TO {READER};
            REVOKE SELECT ON hidden, part_hidden FROM {READER};
            GRANT SELECT (shown) ON part_hidden TO {READER};
            '''
        )
    return url


def read(url: str) -> Catalog:
    return read_postgres_catalog(url, database="odd", reader_role=READER)


def test_reads_keys_comments_kinds_and_odd_names(odd_database: str) -> None:
    catalog = read(odd_database)
    tables = {table.name: table for table in catalog.tables}
    assert [column.name for column in tables['Odd "Name"'].columns] == ["Größe", "select", "🙂"]
    assert tables["tree"].comment == "It's a tree"
    assert tables["tree"].columns[1].comment == "Up"
    assert tables["pair"].primary_key == ("a", "b")
    assert {tables[name].kind for name in ("seen", "kept", "parent_p")} == {
        "view",
        "materialized view",
        "table",
    }
    keys = {key.table: key for key in catalog.foreign_keys}
    assert keys["public.tree"].target == "public.tree"
    assert (keys["public.leaf"].columns, keys["public.leaf"].target_columns) == (
        ("y", "x"),
        ("b", "a"),
    )


def test_sees_only_what_the_reader_may_select(odd_database: str) -> None:
    tables = {table.name: table for table in read(odd_database).tables}
    assert "hidden" not in tables
    assert [column.name for column in tables["part_hidden"].columns] == ["shown"]


def test_leaves_partitions_out(odd_database: str) -> None:
    assert "child_p" not in {table.name for table in read(odd_database).tables}


def test_a_role_that_does_not_exist_is_named(odd_database: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="nobody"):
        read_postgres_catalog(odd_database, database="odd", reader_role="nobody")


def test_the_demo_is_read_whole(wiring: Wiring) -> None:
    catalog = read_postgres_catalog(
        wiring.indexer_url("demo_erp"),
        database="demo_erp",
        reader_role=READER,
        schemas=wiring.settings.databases["demo_erp"].schemas,
    )
    assert len(catalog.modules) == 10
    assert len(catalog.tables) >= 60
    assert all(table.comment for table in catalog.tables)
    assert catalog.search_path == wiring.settings.databases["demo_erp"].schemas


async def test_reindexing_an_unchanged_database_embeds_nothing(
    odd_database: str, store: IndexStore
) -> None:
    embedder = Embedder()
    first = await index_database(read(odd_database), store, embedder)
    again = await index_database(read(odd_database), store, embedder)
    assert (first.embedded, first.changed) == (first.tables, True)
    assert (again.embedded, again.changed) == (0, False)
    with psycopg.connect(odd_database, autocommit=True) as connection:
        connection.execute("COMMENT ON TABLE tree IS 'Another wording'")
    changed = await index_database(read(odd_database), store, embedder)
    assert (changed.embedded, changed.changed) == (1, True)
    assert await store.drop("odd")
    assert not await store.drop("odd")


async def test_a_catalog_survives_the_index(store: IndexStore, odd_database: str) -> None:
    catalog = read(odd_database)
    await index_database(catalog, store, Embedder())
    index = await store.load("odd")
    assert index is not None
    assert index.catalog == catalog
    assert index.vectors.shape == (len(catalog.tables), 384)
    await store.drop("odd")


async def test_the_nearest_card_is_the_one_that_says_the_same(store: IndexStore) -> None:
    vector = Embedder().embed(["Leave and sick days of employees"])[0]
    nearest, version = await store.nearest("demo_erp", vector, 5)
    assert nearest[0][0] == "hr.absences"
    assert [cosine for _, cosine in nearest] == sorted(
        (cosine for _, cosine in nearest), reverse=True
    )
    assert version == await store.version("demo_erp")


async def test_databases_do_not_see_each_others_cards(store: IndexStore) -> None:
    vector = Embedder().embed(["support tickets"])[0]
    nearest, _ = await store.nearest("second", vector, 100)
    assert {name.split(".")[0] for name, _ in nearest} == {"hr", "sales"}


async def test_the_vector_search_can_use_the_hnsw_index(wiring: Wiring) -> None:
    with psycopg.connect(wiring.index_url()) as connection:
        connection.execute("SET enable_seqscan = off; SET enable_sort = off")
        plan = connection.execute(
            "EXPLAIN SELECT table_name FROM quorumsql.table_cards"
            " WHERE vector_dims(embedding) = 384"
            " ORDER BY embedding::vector(384) <=> array_fill(0.1::real, ARRAY[384])::vector(384)"
            " LIMIT 5"
        ).fetchall()
    assert "table_cards_hnsw_384" in "\n".join(line for (line,) in plan)


async def test_a_database_without_an_index_is_told_apart(store: IndexStore) -> None:
    assert await store.load("nothing") is None
    with pytest.raises(IndexUnavailable, match="quorumsql index nothing"):
        await IndexedCatalogs(store).catalog("nothing")


async def test_a_store_that_does_not_answer_is_unavailable() -> None:
    store = IndexStore("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(IndexUnavailable, match="does not answer"):
        await store.load("x")
    assert (await store.probe())[0][1]
    await store.close()
