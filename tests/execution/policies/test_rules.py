"""A policy held against a catalog: what is derived, what is refused, and by which name."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from execution.policies.rules import render_path
from nl2sql.catalog import Table
from nl2sql.errors import PolicyError
from tests.execution.policies.shop import compile_shop
from tests.fakes import SHOP, build_key, build_table
from tests.golden import load_changes


def test_filters_are_inherited_over_any_number_of_hops() -> None:
    rules = compile_shop().roles["clerk"]
    paths = {name: render_path(rule.path) for name, rule in rules.items() if rule.path}
    assert paths == {
        "sales.orders": "sales.orders(customer_id) → sales.customers",
        "sales.order_lines": (
            "sales.order_lines(order_id) → sales.orders(customer_id) → sales.customers"
        ),
        "stock.returns": (
            "stock.returns(order_id, line_no) → sales.order_lines(order_id) → "
            "sales.orders(customer_id) → sales.customers"
        ),
    }


def test_hidden_takes_away_what_is_shared() -> None:
    compiled = compile_shop(
        clerk={
            "tables": {"visible": ["sales.customers"], "hidden": ["stock.products"]},
            "masked_columns": [],
        }
    )
    assert set(compiled.roles["clerk"]) == {"sales.customers"}


def test_two_ways_to_a_filter_are_refused_until_one_is_named() -> None:
    # An order belongs to a customer and to a seller.
    visible = ["sales.customers", "sales.employees", "sales.orders"]
    filters = {"sales.customers": "country = :country", "sales.employees": "id IN :sellers"}
    change: dict[str, Any] = {
        "tables": {"visible": visible},
        "row_filters": filters,
        "masked_columns": [],
    }
    with pytest.raises(PolicyError) as caught:
        compile_shop(clerk=change)
    message = str(caught.value)
    assert "sales.orders(customer_id) → sales.customers" in message
    assert "sales.orders(seller_id) → sales.employees" in message
    named = {"sales.orders": {"columns": ["seller_id"], "references": "sales.employees"}}
    compiled = compile_shop(clerk={**change, "inherit": named})
    path = compiled.roles["clerk"]["sales.orders"].path
    assert render_path(path) == "sales.orders(seller_id) → sales.employees"


def test_no_way_leads_through_a_shared_table() -> None:
    # The products belong to a customer, but all may see all of them.
    owned = build_key("stock.products(id)", "sales.customers(id)")
    catalog = replace(SHOP, foreign_keys=(*SHOP.foreign_keys, owned))
    path = compile_shop(catalog).roles["clerk"]["sales.order_lines"].path
    assert [hop.target for hop in path] == ["sales.orders", "sales.customers"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("id IN (:sellers)", '"id" IN :sellers'),
        ("id IN :sellers", '"id" IN :sellers'),
        ("id = ANY(:sellers)", '"id" IN :sellers'),
        ("id IN (1)", '"id" IN (1)'),
        ("id IN (1, 2) AND NAME = 'a'", '"id" IN (1, 2) AND "name" = \'a\''),
    ],
)
def test_a_filter_is_read_in_any_spelling(condition: str, expected: str) -> None:
    compiled = compile_shop(clerk={"row_filters": {"sales.customers": condition}})
    found = compiled.roles["clerk"]["sales.customers"].filter
    assert found is not None
    assert found.sql() == expected


def test_a_key_that_is_not_declared_is_named_with_both_sides() -> None:
    catalog = replace(
        SHOP, tables=(*SHOP.tables, build_table("sales.notes", "about integer", "text text"))
    )
    visible = ["sales.customers", "sales.notes"]
    entry: dict[str, Any] = {"columns": ["about"], "references": "sales.customers"}
    change = {"tables": {"visible": visible}, "masked_columns": []}
    with pytest.raises(PolicyError, match="there is no foreign key"):
        compile_shop(catalog, clerk={**change, "inherit": {"sales.notes": entry}})
    entry["to"] = ["id"]
    compiled = compile_shop(catalog, clerk={**change, "inherit": {"sales.notes": entry}})
    assert compiled.roles["clerk"]["sales.notes"].inherits is not None


def test_a_circle_of_keys_is_refused() -> None:
    catalog = replace(
        SHOP,
        tables=(
            *SHOP.tables,
            build_table("s.a", "id integer", "b integer", key=("id",)),
            build_table("s.b", "id integer", "a integer", key=("id",)),
        ),
        foreign_keys=(
            *SHOP.foreign_keys,
            build_key("s.a(b)", "s.b(id)"),
            build_key("s.b(a)", "s.a(id)"),
        ),
    )
    inherit = {
        "s.a": {"columns": ["b"], "references": "s.b"},
        "s.b": {"columns": ["a"], "references": "s.a"},
    }
    with pytest.raises(PolicyError, match="circle"):
        compile_shop(
            catalog,
            clerk={
                "tables": {"visible": ["sales.customers", "s.a", "s.b"]},
                "inherit": inherit,
                "masked_columns": [],
            },
        )


@pytest.mark.parametrize(("change", "said"), load_changes("policy_problems"))
def test_what_does_not_fit_is_named_at_the_start(change: str, said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        compile_shop(**json.loads(change))
    assert said in str(caught.value)


def test_everything_that_is_wrong_is_listed_at_once() -> None:
    with pytest.raises(PolicyError) as caught:
        compile_shop(shared=["a.b"], clerk={"hidden_columns": ["c.d.e"]})
    assert "a.b" in str(caught.value)
    assert "c.d.e" in str(caught.value)


# -- views -------------------------------------------------------------------------------------

OPEN = replace(
    build_table("sales.open_orders", "id integer", "total numeric", kind="view"),
    definition="SELECT id, total FROM sales.orders WHERE status = 'open'",
)
SALARIES = replace(
    build_table("sales.managers", "id integer", kind="view"),
    definition="SELECT manager_id AS id FROM sales.employees",
)
STORED = build_table("sales.totals", "customer_id integer", kind="materialized view")


def compile_views(*views: Table, visible: Any) -> set[str]:
    compiled = compile_shop(
        replace(SHOP, tables=(*SHOP.tables, *views)),
        clerk={
            "tables": {"visible": visible},
            "rows": "all",
            "row_filters": {"sales.customers": "country = :country"},
            "hidden_columns": [],
            "masked_columns": [],
            "inherit": {
                "sales.orders": {"columns": ["customer_id"], "references": "sales.customers"}
            },
        },
    )
    return set(compiled.roles["clerk"])


CUSTOMERS_AND_ORDERS = ["sales.customers", "sales.orders"]


def test_a_view_is_seen_where_its_tables_are_and_one_on_a_view_too() -> None:
    outer = replace(
        build_table("sales.big_open", "id integer", kind="view"),
        definition="SELECT id FROM sales.open_orders WHERE total > 100",
    )
    visible = [*CUSTOMERS_AND_ORDERS, "sales.open_orders", "sales.big_open"]
    assert {"sales.open_orders", "sales.big_open"} <= compile_views(OPEN, outer, visible=visible)


def test_a_view_on_a_hidden_table_is_an_error_where_it_is_named_and_gone_where_it_is_not() -> None:
    with pytest.raises(PolicyError, match=r"sales\.managers reads what the role may not see"):
        compile_views(SALARIES, visible=[*CUSTOMERS_AND_ORDERS, "sales.managers"])


# What it was made by tells nothing of the rows that it holds.
DEFINED = replace(STORED, definition="SELECT customer_id FROM sales.orders")


@pytest.mark.parametrize("stored", [STORED, DEFINED], ids=["without_query", "with_its_query"])
def test_a_view_whose_rows_no_rule_reaches_is_gone_or_an_error(stored: Table) -> None:
    assert "sales.totals" not in compile_views(stored, visible="*")
    with pytest.raises(PolicyError, match="whose rows no rule reaches"):
        compile_views(stored, visible=[*CUSTOMERS_AND_ORDERS, "sales.totals"])


@pytest.mark.timeout(60)
def test_every_view_on_a_hidden_table_is_gone() -> None:
    shown = tuple(replace(OPEN, name=f"open_orders{number}") for number in range(60))
    others = tuple(replace(SALARIES, name=f"managers{number}") for number in range(250))
    hidden = {"tables": {"visible": "*", "hidden": ["sales.employees"]}, "rows": "all"}
    compiled = compile_shop(replace(SHOP, tables=(*SHOP.tables, *shown, *others)), boss=hidden)
    names = set(compiled.roles["boss"])
    assert {table.qualified for table in shown} <= names
    assert not any("managers" in name for name in names)


def test_a_table_of_which_every_column_is_hidden_is_gone() -> None:
    hidden = [f"sales.customers.{column.name}" for column in SHOP.tables[0].columns]
    compiled = compile_shop(
        clerk={
            "tables": {"visible": ["sales.customers"]},
            "row_filters": {},
            "hidden_columns": hidden,
            "masked_columns": [],
        }
    )
    assert set(compiled.roles["clerk"]) == {"stock.products"}


def test_a_shared_table_with_a_filter_is_filtered() -> None:
    filters = {"sales.customers": "country = :country", "stock.products": "category = 'toys'"}
    change = {"tables": {"visible": ["sales.customers"]}, "masked_columns": []}
    compiled = compile_shop(clerk={**change, "row_filters": filters})
    rule = compiled.roles["clerk"]["stock.products"]
    assert rule.filter is not None
    assert not rule.shared
    assert not rule.is_whole


@pytest.mark.parametrize(
    ("shared", "boss"),
    [
        # Rows are filtered, though every table is shared; one column is masked, one table hidden.
        ([table.qualified for table in SHOP.tables], {"rows": "filtered"}),
        (["stock.products"], {"masked_columns": ["stock.products.price"]}),
        (["stock.products"], {"hidden_columns": ["stock.products.price"]}),
        (["stock.products"], {"row_filters": {"stock.products": "price > 5"}}),
        (["stock.products"], {"tables": {"visible": "*", "hidden": ["stock.returns"]}}),
    ],
)
def test_whatever_is_withheld_expands_every_view(shared: list[str], boss: dict[str, Any]) -> None:
    catalog = replace(SHOP, tables=(*SHOP.tables, OPEN))
    rules = compile_shop(catalog, shared=shared, boss=boss).roles["boss"]
    assert rules["sales.open_orders"].expands
    assert not compile_shop(catalog).roles["boss"]["sales.open_orders"].expands
