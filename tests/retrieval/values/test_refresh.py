"""The value index is brought up to date column by column, in a real store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import pytest

from nl2sql.catalog import Catalog
from retrieval.index_store.value_store import ValueStore
from retrieval.introspection.source_database import Unreadable
from retrieval.values.refresh import refresh_values
from serve_app.composition.wiring import Wiring
from tests.fakes import build_table
from tests.retrieval.values.builders import FakeValues

CATALOG = Catalog(
    "values_test",
    (
        build_table("s.orders", "id integer", "status text -- CXL = void", "note text"),
        build_table("s.people", "name text", "email text"),
    ),
)
refresh = partial(refresh_values, most_distinct=3)
ROWS: dict[str, list[str] | Unreadable] = {
    "s.orders.status": ["OPN", "CXL"],
    "s.orders.note": ["a", "b", "c", "d"],
    "s.people.name": ["Ann"],
    "s.people.email": ["ann@example.com"],
}


@pytest.fixture
async def values(wiring: Wiring) -> AsyncIterator[ValueStore]:
    store = wiring.build_index_store()
    yield ValueStore(store)
    await ValueStore(store).drop("values_test")
    await store.close()


async def test_values_and_their_words_are_stored(values: ValueStore) -> None:
    reader = FakeValues(ROWS)
    report = await refresh(CATALOG, values, reader)
    assert (report.columns, report.values, report.read) == (2, 3, 3)
    assert dict(report.skipped) == {
        "s.orders.note": "more than 3 distinct values",
        "s.people.email": "looks private",
    }
    assert "s.people.email" not in reader.reads
    status = {column.qualified: column for column in await values.load("values_test", 100)}[
        "s.orders.status"
    ]
    assert status.values == ("CXL", "OPN")
    assert status.aliases["void"] == "CXL"


async def test_only_what_has_changed_is_read_again(values: ValueStore) -> None:
    await refresh(CATALOG, values, FakeValues(ROWS))
    version = await values.version("values_test")
    same = FakeValues(ROWS)
    report = await refresh(CATALOG, values, same)
    assert (same.reads, report.unchanged) == ([], 3)
    assert await values.version("values_test") == version
    changed = FakeValues({**ROWS, "s.people.name": ["Bea"]}, mark="m2")
    assert (await refresh(CATALOG, values, changed)).read == 3
    assert await values.version("values_test") != version


async def test_a_column_that_cannot_be_read_is_reported_and_its_table_left(
    values: ValueStore,
) -> None:
    rows = {**ROWS, "s.orders.status": Unreadable("took too long", timed_out=True)}
    reader = FakeValues(rows)
    report = await refresh(CATALOG, values, reader)
    assert reader.reads == ["s.orders.status", "s.people.name"]
    assert dict(report.skipped)["s.orders.status"] == "took too long"
    assert "longer" in dict(report.skipped)["s.orders.note"]
    assert (report.columns, report.values) == (1, 1)


async def test_what_is_gone_or_switched_off_is_forgotten(values: ValueStore) -> None:
    await refresh(CATALOG, values, FakeValues(ROWS))
    smaller = Catalog("values_test", CATALOG.tables[1:])
    assert (await refresh(smaller, values, FakeValues(ROWS))).columns == 1
    assert (await refresh(smaller, values, FakeValues(ROWS), skip=("s.people.name",))).columns == 0
    await refresh(CATALOG, values, FakeValues(ROWS))
    assert (await refresh(CATALOG, values, FakeValues(ROWS), skip=("*",))).columns == 0


async def test_what_no_store_can_hold_is_left_out(values: ValueStore) -> None:
    odd = ["a\0b", "half \ud83d", "  ", "🙂 'quoted'"]
    rows = {"s.people.name": odd}
    await refresh_values(CATALOG, values, FakeValues(rows))
    (name,) = await values.load("values_test", 100)
    assert name.values == ("🙂 'quoted'",)
