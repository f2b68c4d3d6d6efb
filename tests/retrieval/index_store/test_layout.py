"""The index is set up once, by whoever comes first; other layouts are migrated or refused."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import asdict
from typing import Any

import psycopg
import pytest

from nl2sql.errors import IndexUnavailable
from retrieval.examples.pairs import Pair, read_pattern
from retrieval.examples.parameters import Parameter
from retrieval.examples.records import build_example
from retrieval.index_store.example_store import ExampleStore, VerifiedExample, fold_question
from retrieval.index_store.indexed_database import hash_shape
from retrieval.index_store.layout import read_steps
from retrieval.index_store.store import IndexStore
from tests.fakes import build_table
from tests.retrieval.index_store.conftest import execute

OLDEST, NEWEST = min(read_steps()), max(read_steps())


def read_layout(url: str) -> list[tuple[object, ...]]:
    return execute(url, "SELECT version FROM quorumsql.layout")


async def test_several_set_an_index_up_at_once(index_url: str) -> None:
    stores = [IndexStore(index_url, pool_size=1) for _ in range(6)]
    await asyncio.gather(*(store.prepare() for store in stores))
    await asyncio.gather(*(store.heads() for store in stores))
    await asyncio.gather(*(store.close() for store in stores))
    assert read_layout(index_url) == [(NEWEST,)]


@pytest.mark.parametrize(
    ("layout", "said", "probed"),
    [
        (NEWEST + 1, f"layout {NEWEST + 1}, made by a newer version", "made by a newer version"),
        (OLDEST - 1, f"layout {OLDEST - 1}; layouts before {OLDEST}", "cannot be brought to it"),
    ],
    ids=["newer", "before_the_first"],
)
async def test_a_layout_that_cannot_be_used_is_refused_and_left_alone(
    store: IndexStore, index_url: str, layout: int, said: str, probed: str
) -> None:
    execute(index_url, f"UPDATE quorumsql.layout SET version = {layout}")
    for attempt in (store.prepare(), store.heads()):
        with pytest.raises(IndexUnavailable, match=said) as caught:
            await attempt
        assert "\n" not in caught.value.message
    assert probed in dict(await store.probe())["index"]
    assert read_layout(index_url) == [(layout,)]


async def test_the_identity_of_examples_of_layout_16_is_that_of_new_ones(index_url: str) -> None:
    """So a file that is imported again replaces them; of two with one identity the latest stays."""
    pair = Pair(
        question='Orders of "x"  ä :year?',
        sql="SELECT :year",
        phrasings=("In :year?",),
        parameters={"year": Parameter(type="integer", default="2024")},
    )
    pattern = {
        "phrasings": [pair.question, *pair.phrasings],
        "sql": pair.sql,
        "parameters": {"year": {"type": "integer", "default": "2024"}},
    }

    def build(**fields: Any) -> VerifiedExample:
        given = {"question": "Orders?", "sql": "SELECT 1", "source": "file", "given_by": "ann"}
        return build_example(
            **{"database": "shop", "tables": (), "dialect": "postgres", **given, **fields}
        )

    examples = (
        (build(asked=pair.question, pattern=pair.write_pattern()), json.dumps(pattern)),
        (build(roles=("b", "a")), ""),
        (build(source="feedback", access="key"), ""),
        (build(), ""),
        (build(sql="SELECT 2"), ""),
    )
    steps = [statements for number, statements in read_steps().items() if number <= 16]
    execute(index_url, "CREATE SCHEMA quorumsql", *steps)
    execute(index_url, "CREATE TABLE quorumsql.layout AS SELECT 16 AS version")
    shape = hashlib.md5(b"sales.orders id int,status text").hexdigest()
    table = build_table("sales.orders", "status text", "id int")
    with psycopg.connect(index_url) as connection:
        connection.execute(
            "INSERT INTO quorumsql.indexes VALUES ('shop', '', '', '', '', '{}', 1, 1, now(), '[]')"
        )
        connection.execute(
            "INSERT INTO quorumsql.indexed_tables VALUES ('shop', 0, %s)",
            (json.dumps({"table": asdict(table)}),),
        )
        for at, (example, stored) in enumerate(examples):
            connection.execute(
                "INSERT INTO quorumsql.examples VALUES (%s, %s, %s, %s, '', %s, %s,"
                " '{sales.orders}', %s, %s, %s, %s, %s, '', '[1]', false, '', %s, %s)",
                (
                    *(example.database, str(at), example.question),
                    *(fold_question(example.question), example.sql, example.form, example.source),
                    *(example.given_by, example.access, list(example.roles), example.created_at),
                    stored,
                    shape if stored else "other",
                ),
            )
    store = IndexStore(index_url)
    await store.prepare()
    # Layout 18 has every index built again.
    assert await store.heads() == []
    with psycopg.connect(index_url) as connection:
        connection.execute(
            "INSERT INTO quorumsql.indexes VALUES ('shop', '', '', '', '', '{}', 1, 1, now(), '[]')"
        )
        connection.execute(
            "INSERT INTO quorumsql.indexed_tables VALUES ('shop', 0, '{}', %s, %s)",
            (table.qualified, hash_shape(table)),
        )
    found = {each.id: each for each in await ExampleStore(store).list_examples("shop")}
    await store.close()
    assert set(found) == {example.id for example, _ in examples}
    assert [each.sql for each in found.values() if not (each.roles or each.pattern)] == [
        "SELECT 1",
        "SELECT 2",
    ]
    assert read_pattern(found[examples[0][0].id].pattern) == pair
    assert [each.id for each in found.values() if not each.expired] == [examples[0][0].id]
