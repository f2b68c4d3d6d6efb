"""An index of any earlier layout becomes one of the present layout, and keeps what users gave.

``layouts`` holds the statements with which earlier versions set an index up, with rows.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from execution.postgres.embedded import EmbeddedServer
from nl2sql.errors import IndexUnavailable
from nl2sql.types import Turn
from retrieval.index_store.conversation_store import SessionStore
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.generations import create_generation
from retrieval.index_store.migrations import read_steps
from retrieval.index_store.store import IndexStore
from retrieval.index_store.value_store import ValueStore
from tests.retrieval.index_store.conftest import create_index, execute

LAYOUTS = Path(__file__).parent / "layouts"
EARLIER = {"1": ("1.sql",), "2": ("2.sql",), "2_with_sessions": ("2.sql", "2_sessions.sql")}
NEWEST = read_steps()[-1].number

every_earlier_layout = pytest.mark.parametrize("files", EARLIER.values(), ids=EARLIER)

# Columns in their order, constraints, and indexes but those made for a vector's dimensions.
_DESCRIBE = """
SELECT c.relname, 'column ' || a.attnum, concat_ws(' ', a.attname,
       format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
       pg_get_expr(d.adbin, d.adrelid))
  FROM pg_class c
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
 WHERE c.relnamespace = 'quorumsql'::regnamespace AND c.relkind IN ('r', 'v')
UNION ALL
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
  FROM pg_constraint WHERE connamespace = 'quorumsql'::regnamespace
UNION ALL
SELECT tablename, indexname, indexdef FROM pg_indexes
 WHERE schemaname = 'quorumsql' AND indexdef NOT LIKE '%USING hnsw%'
 ORDER BY 1, 2, 3
"""


def lay_out(url: str, *files: str) -> None:
    for file in files:
        execute(url, (LAYOUTS / file).read_bytes())


def describe(url: str) -> list[tuple[object, ...]]:
    return execute(url, _DESCRIBE)


def read_numbers(url: str) -> list[tuple[object, ...]]:
    return execute(url, "SELECT version FROM quorumsql.layout")


def test_steps_are_numbered_without_a_gap() -> None:
    assert [step.number for step in read_steps()] == list(range(1, NEWEST + 1))


@every_earlier_layout
@pytest.mark.parametrize("opens", ["prepare", "heads"])
async def test_every_layout_becomes_that_of_a_new_index(
    index_url: str, embedded_server: EmbeddedServer, files: tuple[str, ...], opens: str
) -> None:
    lay_out(index_url, *files)
    new_url = create_index(embedded_server, "new_index")
    migrated, new = IndexStore(index_url), IndexStore(new_url)
    await getattr(migrated, opens)()
    await new.prepare()
    if "2.sql" in files:  # it has a generation, which is in service still
        async with new.connection() as connection:
            await connection.execute(create_generation(1, 2))
    await asyncio.gather(migrated.close(), new.close())
    assert describe(index_url) == describe(new_url)
    assert read_numbers(index_url) == [(NEWEST,)]


@pytest.mark.parametrize("has_sessions", [False, True])
async def test_what_users_gave_is_there_afterwards(index_url: str, has_sessions: bool) -> None:
    lay_out(index_url, "2.sql", *(["2_sessions.sql"] if has_sessions else []))
    store = IndexStore(index_url)
    await store.prepare()
    [example] = await ExampleStore(store).list_examples("shop")
    given = (example.question, example.source, example.access)
    assert given == ("How many orders?", "feedback", "key")
    notes = execute(index_url, "SELECT question, outcome FROM quorumsql.feedback")
    assert notes == [("How many orders?", "stored")]
    turns = await SessionStore(store).load("ann", "s1", "shop", most=9, keep_hours=9)
    expected = Turn("How many orders?", "answered", "SELECT count(*) FROM orders", ())
    assert turns == ((expected,) if has_sessions else ())
    assert await ValueStore(store).count("shop") == (1, 1)
    await store.close()


async def test_a_generation_of_an_earlier_layout_is_searched_or_made_anew(index_url: str) -> None:
    lay_out(index_url, "2.sql")
    store = IndexStore(index_url)
    index = await store.load("shop")
    if index is not None:  # none, where a step took it out of service
        assert index.catalog.tables[0].qualified == "main.orders"
        found = await store.nearest_tables(index.head, np.array([1, 0], dtype=np.float32), 1)
        assert [position for position, _ in found] == [0]
    await store.close()


@pytest.mark.parametrize("files", [(), *EARLIER.values()], ids=["new", *EARLIER])
async def test_several_that_migrate_at_once(index_url: str, files: tuple[str, ...]) -> None:
    lay_out(index_url, *files)
    stores = [IndexStore(index_url, pool_size=1) for _ in range(6)]
    await asyncio.gather(
        *(
            store.prepare() if at % 2 or not files else store.heads()
            for at, store in enumerate(stores)
        )
    )
    await asyncio.gather(*(store.close() for store in stores))
    assert read_numbers(index_url) == [(NEWEST,)]


async def test_a_newer_layout_is_refused_and_left_alone(index_url: str) -> None:
    lay_out(index_url, "2.sql")
    execute(index_url, f"UPDATE quorumsql.layout SET version = {NEWEST + 1}")
    before, store = describe(index_url), IndexStore(index_url)
    said = f"layout {NEWEST + 1}, made by a newer version"
    for attempt in (store.prepare(), store.heads()):
        with pytest.raises(IndexUnavailable, match=said) as caught:
            await attempt
        assert "\n" not in caught.value.message
    assert said in dict(await store.probe())["index"]
    await store.close()
    assert describe(index_url) == before
    assert read_numbers(index_url) == [(NEWEST + 1,)]


@pytest.mark.parametrize(
    ("file", "obstacle", "number", "said"),
    [
        ("1.sql", "CREATE TABLE quorumsql.feedback (id text)", 1, "0002_generations"),
        ("2.sql", "CREATE VIEW quorumsql.session_turns AS SELECT 1", 2, "0003_session_turns"),
    ],
)
async def test_a_step_that_fails_leaves_the_layout_before_it(
    index_url: str, file: str, obstacle: str, number: int, said: str
) -> None:
    """Each obstacle stands in the way of a later statement of the step."""
    lay_out(index_url, file)
    execute(index_url, obstacle)
    before, store = describe(index_url), IndexStore(index_url)
    for attempt in (store.prepare(), store.heads()):
        with pytest.raises(IndexUnavailable, match=f"keeps layout {number}: .*{said}") as caught:
            await attempt
        assert "\n" not in caught.value.message
    assert describe(index_url) == before
    kind, name = obstacle.split()[1:3]
    execute(index_url, f"DROP {kind} {name}")
    await store.prepare()
    assert read_numbers(index_url) == [(NEWEST,)]
    await store.close()


async def test_a_probe_tells_an_earlier_layout_and_does_not_migrate(index_url: str) -> None:
    lay_out(index_url, "2.sql")
    store = IndexStore(index_url)
    assert "layout 2" in dict(await store.probe())["index"]
    assert read_numbers(index_url) == [(2,)]
    await store.heads()
    assert await store.probe() == (("index", ""),)
    await store.close()
