"""Which definitions a question names, and who is shown them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nl2sql.catalog import Catalog
from nl2sql.errors import InvalidRequest
from nl2sql.types import Definition, TrialFix, Violation
from retrieval.semantics.layer import SemanticLayer
from tests.fakes import SHOP, FakeCatalogs, FakeGuard, build_question
from tests.fakes.shop import build_table
from tests.retrieval.semantics.files import SPENT, build_file

FILE = build_file(
    measures={
        "revenue": {"expression": SPENT, "synonyms": ["turnover", "sales value"]},
        "net revenue": "sum(orders.total)",
    },
    dimensions={"category": {"expression": "products.category", "synonyms": ["product group"]}},
    filters={
        "open orders": "orders.status = 'open'",
        "order value over 100": "orders.total > 100",
        "German customers": "customers.country = 'DE'",
    },
)


async def find(text: str, visible: Catalog = SHOP) -> tuple[Definition, ...]:
    layer = SemanticLayer({"shop": FILE}, FakeCatalogs(SHOP), FakeGuard())
    return await layer.find(build_question(text=text), visible)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What was the revenue in 2024?", ["revenue"]),
        ("Turnovers by product groups", ["turnover", "product group"]),
        ("Net revenue of each category", ["net revenue", "category"]),
        ("Net revenue and revenue", ["net revenue"]),
        ("Which orders are still open?", ["open orders"]),
        ("Which customers are German?", ["German customers"]),
        ("How many customers are there?", []),
        ("German towns and cities with the largest number of customers", []),
        ("Open order value over 100", ["open orders", "order value over 100"]),
        ("What is the value of all sales?", ["sales value"]),
    ],
)
async def test_definitions_are_found_by_their_words(text: str, expected: list[str]) -> None:
    assert [definition.phrase for definition in await find(text)] == expected


def hide(*names: str) -> Catalog:
    """The shop without these tables and columns."""
    return Catalog(
        SHOP.database,
        tuple(
            replace(
                table,
                columns=tuple(
                    column
                    for column in table.columns
                    if f"{table.qualified}.{column.name}" not in names
                ),
            )
            for table in SHOP.tables
            if table.qualified not in names
        ),
        search_path=SHOP.search_path,
    )


@pytest.mark.parametrize(
    "hidden",
    [
        "sales.orders",
        "sales.order_lines",
        "sales.order_lines.price",
        "sales.orders.status",
        # The columns of the join count too.
        "sales.orders.id",
        "sales.order_lines.order_id",
    ],
)
async def test_a_definition_is_shown_only_to_one_who_sees_all_that_it_reads(hidden: str) -> None:
    file = build_file(
        measures={"revenue": {"expression": SPENT, "filter": "orders.status <> 'secret'"}}
    )
    layer = SemanticLayer({"shop": file}, FakeCatalogs(SHOP), FakeGuard())
    question = build_question(text="What was the revenue?")
    assert len(await layer.find(question, SHOP)) == 1
    assert await layer.find(question, hide(hidden)) == ()
    assert len(await layer.find(question, SHOP)) == 1


async def test_what_is_hidden_does_not_give_a_name_another_meaning() -> None:
    twin = build_table("stock.orders", "id integer", "status text", key=("id",))
    whole = replace(SHOP, tables=(*SHOP.tables, twin))
    layer = SemanticLayer({"shop": FILE}, FakeCatalogs(whole), FakeGuard())
    question = build_question(text="Which orders are open?")
    (found,) = await layer.find(question, whole)
    assert found.tables == ("sales.orders",)
    # `orders` alone would now be the twin.
    visible = replace(hide("sales.orders"), tables=(*hide("sales.orders").tables, twin))
    assert await layer.find(question, visible) == ()


async def test_what_would_not_be_kept_is_not_tried() -> None:
    twin = build_table("stock.orders", "id integer", "status text", key=("id",))
    whole = replace(SHOP, tables=(*SHOP.tables, twin), search_path=("stock", "sales"))
    visible = replace(SHOP, search_path=("stock", "sales"))
    guard = FakeGuard(
        {
            "SELECT 1\nFROM orders\nWHERE orders.status = 'x'": Violation(
                "function_not_allowed", "f", "Not allowed."
            )
        }
    )
    layer = SemanticLayer({"shop": FILE}, FakeCatalogs(whole), guard)

    async def attempt(expression: str, name: str = "late") -> tuple[str, ...]:
        trial = TrialFix(name=name, expression=expression)
        question = replace(build_question(text="Which are late?"), trial=trial)
        return tuple(each.name for each in await layer.find(question, visible))

    assert await attempt("sales.orders.status = 'late'") == ("late",)
    # Another schema, that the reviewer does not see, has such a table.
    with pytest.raises(InvalidRequest, match="write schema"):
        await attempt("orders.status = 'late'")
    with pytest.raises(InvalidRequest, match=r"so: a name is at most 60 letters"):
        await attempt("sales.orders.status = 'late'", "late (open)")
    with pytest.raises(InvalidRequest, match="Not allowed"):
        await attempt("sales.orders.status = 'x'")
    assert len(guard.guarded) == 2


async def test_what_no_longer_fits_the_catalog_is_left_out() -> None:
    catalogs = FakeCatalogs(SHOP)
    layer = SemanticLayer({"shop": FILE}, catalogs, FakeGuard())
    question = build_question(text="revenue of open orders")
    assert len(await layer.find(question, SHOP)) == 2
    changed = catalogs.catalogs["shop"] = hide("sales.order_lines.price")
    assert [found.name for found in await layer.find(question, changed)] == ["open orders"]
