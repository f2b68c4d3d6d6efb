"""Which values a principal is told: with fakes, and on the demo with its policy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

import psycopg
import pytest

from execution.guard.guard import SqlGuard
from nl2sql.errors import IndexUnavailable
from nl2sql.types import Diagnostic, Principal, ValueMatch, Violation
from retrieval.index_store.value_store import ValueColumn, ValueStore
from retrieval.values.dictionary import ValueMemory
from retrieval.values.search import IndexedValueSearch
from serve_app.composition.wiring import Wiring
from tests.fakes import (
    SHOP,
    FakeExecutor,
    FakeGuard,
    FakeIndexStore,
    FakeVisibility,
    build_diagnostic,
    build_question,
    build_result,
    build_violation,
)
from tests.retrieval.values.builders import FakeMemory

COUNTRY = ValueColumn("sales.customers", "country", ("Germany", "France"))
STATUS = ValueColumn("sales.orders", "status", ("CXL", "OPN"), {"cancelled": "CXL"})
GUARDED = (
    'SELECT DISTINCT CAST("country" AS TEXT) FROM "sales"."customers"'
    " WHERE \"country\" IN ('Germany')"
)


def build_search(
    *columns: ValueColumn,
    opened: Sequence[str] | None = None,
    verdict: Violation | None = None,
    rows: Sequence[tuple[object, ...]] | Diagnostic | Exception = (),
    error: Exception | None = None,
) -> tuple[IndexedValueSearch, FakeGuard]:
    guard = FakeGuard({GUARDED: verdict} if verdict else None)
    answer = rows if isinstance(rows, Diagnostic | Exception) else build_result(*rows)
    search = IndexedValueSearch(
        FakeMemory(*columns, error=error),
        FakeVisibility(FakeIndexStore(), open_columns=opened),
        guard,
        FakeExecutor({GUARDED: [answer]}),
    )
    return search, guard


async def match(search: IndexedValueSearch, text: str) -> list[str]:
    found = await search.match(build_question(text=text), SHOP)
    return [f"{match.table}.{match.column} = {match.value}" for match in found]


GERMANY = "sales.customers.country = Germany"


async def test_open_columns_are_told_without_a_query() -> None:
    search, guard = build_search(COUNTRY, STATUS)
    asked = "cancelled orders of customers in germany"
    assert await match(search, asked) == [GERMANY, "sales.orders.status = CXL"]
    assert guard.guarded == []


async def test_any_other_column_is_asked_through_the_guard() -> None:
    search, guard = build_search(
        COUNTRY, STATUS, opened=["sales.orders.status"], rows=[("Germany",)]
    )
    assert GERMANY in await match(search, "cancelled in Germany")
    assert guard.guarded == [("shop", GUARDED, Principal("tester"))]


@pytest.mark.parametrize(
    "outcome",
    [
        {"rows": ()},
        {"rows": (("France",),)},
        {"rows": build_diagnostic()},
        {"rows": IndexUnavailable("it is down")},
        {"verdict": build_violation("not_permitted")},
    ],
)
async def test_what_no_guarded_query_gave_is_not_told(outcome: dict[str, object]) -> None:
    search, _ = build_search(COUNTRY, opened=[], **outcome)  # type: ignore[arg-type]
    assert await match(search, "customers in Germany") == []


async def test_a_column_that_is_not_in_sight_is_not_even_asked_for() -> None:
    search, guard = build_search(COUNTRY, opened=[])
    without = replace(SHOP, tables=tuple(t for t in SHOP.tables if t.name != "customers"))
    assert await search.match(build_question(text="customers in Germany"), without) == ()
    assert guard.guarded == []


async def test_a_withheld_value_leaves_no_trace_in_what_is_told() -> None:
    """The longer value would hide the shorter, and a common beginning would hide both."""
    names = ValueColumn("sales.customers", "name", ("York Germany",))
    towns = ValueColumn("stock.products", "category", ("Germany Bikes", "Tyres"))
    crowd = ValueColumn("sales.employees", "name", tuple(f"Germany {n}a" for n in range(9)))
    opened = ["stock.products.category", "sales.customers.country"]
    told = []
    for withheld in ((), (names, crowd)):
        search = IndexedValueSearch(
            FakeMemory(COUNTRY, towns, *withheld),
            FakeVisibility(FakeIndexStore(), open_columns=opened),
            FakeGuard(),
            _Nothing(),
        )
        told.append(await match(search, "York Germany, Germany Bike"))
    assert told[0] == told[1]
    assert GERMANY in told[0]


class _Nothing(FakeExecutor):
    """No row of any query."""

    async def execute(self, query: object, max_rows: int, limits: object = None) -> Diagnostic:
        return build_diagnostic("nothing")


async def test_without_an_index_a_question_goes_on() -> None:
    search, _ = build_search(COUNTRY, error=IndexUnavailable("it is down"))
    assert await match(search, "customers in Germany") == []


# -- the demo, its policy and its rows --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Demo:
    """The value search over the demo, and the name of somebody of another department."""

    search: IndexedValueSearch
    guard: SqlGuard
    stranger: str

    async def ask(self, name: str, text: str) -> tuple[ValueMatch, ...]:
        roles = {
            "boss": Principal("boss", ("analyst",)),
            "mia": Principal("mia", ("department_member",), (("department_id", DEPARTMENT),)),
            "press": Principal("press", ("public_reporting",)),
        }
        question = build_question(text=text, database="demo_erp", principal=roles[name])
        visible = await self.guard.visible_catalog("demo_erp", roles[name])
        assert not isinstance(visible, Violation)
        return await self.search.match(question, visible)


DEPARTMENT = 31


@pytest.fixture
async def demo(guarded_wiring: Wiring) -> AsyncIterator[Demo]:
    store = guarded_wiring.build_index_store()
    guard = guarded_wiring.build_guard(store)
    executor = guarded_wiring.build_executor()
    with psycopg.connect(guarded_wiring.reader_url("demo_erp")) as connection:
        stranger = connection.execute(
            "SELECT min(last_name) FROM hr.employees e WHERE NOT EXISTS (SELECT FROM hr.employees o"
            " WHERE o.last_name = e.last_name AND o.department_id = %s)",
            (DEPARTMENT,),
        ).fetchone()
    assert stranger is not None
    memory = ValueMemory(ValueStore(store))
    search = IndexedValueSearch(memory, guard, guard, executor)
    yield Demo(search, guard, stranger[0])
    await executor.close()
    await store.close()


async def test_masked_columns_and_hidden_tables_tell_nothing(demo: Demo) -> None:
    question = f"orders of {demo.stranger}"
    assert demo.stranger in {match.value for match in await demo.ask("boss", question)}
    # Names are masked for the press, and customers are nothing that mia sees.
    assert await demo.ask("press", question) == ()
    question = "customers in the segment 'Retail chain' and city of Hamburg"
    assert any("crm" in match.table for match in await demo.ask("boss", question))
    hidden = {"crm.customers", "crm.customer_addresses", "crm.contacts"}
    assert hidden.isdisjoint(match.table for match in await demo.ask("mia", question))
