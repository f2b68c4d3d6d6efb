"""The value index is brought up to date column by column, in a real store."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from nl2sql.catalog import Catalog
from nl2sql.errors import IndexUnavailable
from retrieval.index_store.value_store import ValueStore
from retrieval.introspection.source_database import Unreadable
from retrieval.values.refresh import find_aliases, find_objection, refresh_values
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
ROWS: dict[str, list[str] | Unreadable] = {
    "s.orders.status": ["OPN", "CXL"],
    "s.orders.note": ["a", "b", "c", "d", "e"],
    "s.people.name": ["Ann"],
    "s.people.email": ["ann@example.com"],
}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five distinct values are too many."""
    monkeypatch.setattr("retrieval.values.refresh.MOST_DISTINCT", 4)


@pytest.fixture
async def values(wiring: Wiring) -> AsyncIterator[ValueStore]:
    store = wiring.build_index_store()
    yield ValueStore(store)
    await ValueStore(store).drop("values_test")
    await store.close()


async def test_values_and_their_words_are_stored(values: ValueStore) -> None:
    reader = FakeValues(ROWS)
    report = await refresh_values(CATALOG, values, reader)
    assert (report.columns, report.values, len(reader.reads)) == (2, 3, 3)
    assert dict(report.skipped) == {
        "s.orders.note": "more than 4 distinct values",
        "s.people.email": "looks private",
    }
    assert "s.people.email" not in reader.reads
    status = {column.qualified: column for column in await values.load("values_test", 100)}[
        "s.orders.status"
    ]
    assert status.values == ("CXL", "OPN")
    assert status.aliases["void"] == "CXL"


async def test_only_what_has_changed_is_read_again(values: ValueStore) -> None:
    await refresh_values(CATALOG, values, FakeValues(ROWS))
    version = await values.version("values_test")
    same = FakeValues(ROWS)
    report = await refresh_values(CATALOG, values, same)
    assert (same.reads, report.columns) == ([], 2)
    assert await values.version("values_test") == version
    changed = FakeValues({**ROWS, "s.people.name": ["Bea"]}, mark="m2")
    await refresh_values(CATALOG, values, changed)
    assert len(changed.reads) == 3
    assert await values.version("values_test") != version


class StoppedStore(ValueStore):
    """A store whose run ends before it publishes what it stored."""

    async def publish(self, database: str) -> None:
        raise IndexUnavailable("gone")


async def test_readers_learn_what_an_interrupted_run_stored(
    values: ValueStore, wiring: Wiring
) -> None:
    await refresh_values(CATALOG, values, FakeValues(ROWS))
    version = await values.version("values_test")
    store = wiring.build_index_store()
    changed = {**ROWS, "s.people.name": ["Bea"]}
    with pytest.raises(IndexUnavailable):
        await refresh_values(CATALOG, StoppedStore(store), FakeValues(changed, mark="m2"))
    await store.close()
    again = FakeValues(changed, mark="m2")
    await refresh_values(CATALOG, values, again)
    assert again.reads == []
    assert await values.version("values_test") != version


async def test_a_column_that_cannot_be_read_is_reported_and_its_table_left(
    values: ValueStore,
) -> None:
    rows = {**ROWS, "s.orders.status": Unreadable("took too long", timed_out=True)}
    reader = FakeValues(rows)
    report = await refresh_values(CATALOG, values, reader)
    assert reader.reads == ["s.orders.status", "s.people.name"]
    assert dict(report.skipped)["s.orders.status"] == "took too long"
    assert "longer" in dict(report.skipped)["s.orders.note"]
    assert (report.columns, report.values) == (1, 1)


async def test_what_is_gone_or_switched_off_is_forgotten(values: ValueStore) -> None:
    await refresh_values(CATALOG, values, FakeValues(ROWS))
    smaller = Catalog("values_test", CATALOG.tables[1:])
    assert (await refresh_values(smaller, values, FakeValues(ROWS))).columns == 1
    assert (
        await refresh_values(smaller, values, FakeValues(ROWS), skip=("s.people.name",))
    ).columns == 0
    await refresh_values(CATALOG, values, FakeValues(ROWS))
    assert (await refresh_values(CATALOG, values, FakeValues(ROWS), skip=("*",))).columns == 0


async def test_what_no_store_can_hold_is_left_out(values: ValueStore) -> None:
    odd = ["a\0b", "half \ud83d", "  ", "🙂 'quoted'"]
    rows = {"s.people.name": odd}
    await refresh_values(CATALOG, values, FakeValues(rows))
    (name,) = await values.load("values_test", 100)
    assert name.values == ("🙂 'quoted'",)


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("Status code: ACT = active, LOA = on long leave", {"on long leave": "LOA"}),
        ("ACT: working now; LOA: away", {"working now": "ACT", "away": "LOA"}),
        ("'ACT' means employed (LOA means absent)", {"employed": "ACT", "absent": "LOA"}),
        ("LOA - on leave or away", {"on leave": "LOA", "away": "LOA"}),
        ("Kind of status: see the manual", {}),
        ("ACT=1, LOA=2", {}),
        ("", {}),
    ],
)
def test_meanings_are_read_from_comments(comment: str, expected: dict[str, str]) -> None:
    found = find_aliases("state", ["ACT", "LOA"], comment, {})
    assert found == {**expected, "active": "ACT"}


def test_a_users_words_come_first_and_name_stored_values_only() -> None:
    found = find_aliases("state", ["OPN"], "", {"opn": ["running", "open"], "GONE": ["away"]})
    assert found == {"running": "OPN", "open": "OPN"}


def test_one_letter_means_a_sex_where_the_column_is_called_so() -> None:
    assert find_aliases("gender", ["F"], "", {})["women"] == "F"
    assert find_aliases("grade", ["F"], "", {}) == {}


def test_the_code_of_a_country_means_it_where_the_column_is_called_so() -> None:
    meant = {"germany": "DE", "german": "DE", "norway": "NOR", "norwegian": "NOR"}
    assert find_aliases("ship_country", ["DE", "NOR"], "", {}) == meant
    assert find_aliases("status", ["DE"], "", {}) == {}


def test_the_code_of_a_state_and_its_name_mean_each_other() -> None:
    stored = ["DE", "New Jersey"]
    assert find_aliases("home_state", stored, "", {}) == {"delaware": "DE", "nj": "New Jersey"}
    assert find_aliases("city", stored, "", {}) == {}


def test_a_country_is_meant_by_its_code_where_the_column_is_called_so() -> None:
    meant = {"german": "Germany", "de": "Germany"}
    assert find_aliases("ship_country", ["Germany"], "", {}) == meant
    assert find_aliases("city", ["JORDAN"], "", {}) == {"jordanian": "JORDAN"}
    # "Who works in IT?"
    assert find_aliases("ship_country", ["Italy"], "", {}) == {"italian": "Italy"}


async def test_names_in_a_table_of_countries_are_countries(values: ValueStore) -> None:
    catalog = Catalog("values_test", (build_table("s.countries", "name text"),))
    await refresh_values(catalog, values, FakeValues({"s.countries.name": ["Germany"]}))
    (name,) = await values.load("values_test", 100)
    assert name.aliases["de"] == "Germany"


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ("hr.employees.email", "looks private"),
        ("hr.employees.PasswordHash", "looks private"),
        ("hr.employees.home_phone_no", "looks private"),
        ("hr.employees.iban", "looks private"),
        ("fin.bank_accounts.account_no", "looks private"),
        ("fin.ledger.account_no", ""),
        ("hr.employees.city", ""),
        ("hr.employees.spinning", ""),
        ("hr.people.note", "skipped by the settings"),
        ("HR.People.Remark", "skipped by the settings"),
    ],
)
def test_what_looks_private_or_is_skipped_is_not_read(column: str, reason: str) -> None:
    skip = ("hr.people.*",)
    assert find_objection(column, column.rpartition(".")[2], skip) == reason
