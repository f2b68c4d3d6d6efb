"""What one principal gets: the visible catalog, bound values, several roles, row-level security."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execution.policies.access import name_database_role, open_access
from nl2sql.errors import PolicyError
from nl2sql.types import Principal, SessionIdentity, Violation
from tests.execution.policies.shop import compile_shop, find_access
from tests.fakes import PRODUCTS, SHOP, build_table


def test_the_catalog_shows_what_the_role_may_see() -> None:
    catalog = find_access("clerk").catalog
    names = {table.qualified for table in catalog.tables}
    assert names == {
        "sales.customers",
        "sales.orders",
        "sales.order_lines",
        "stock.returns",
        "stock.products",
    }
    customers = catalog.table("sales.customers")
    assert customers is not None
    assert customers.column("Loyalty Tier") is None
    assert all({key.table, key.target} <= names for key in catalog.foreign_keys)


def test_a_table_of_nothing_but_its_key_keeps_it() -> None:
    tags = build_table("stock.tags", "id integer", key=("id",))
    compiled = compile_shop(
        replace(SHOP, tables=(*SHOP.tables, tags)), shared=["stock.products", "stock.tags"]
    )
    shown = find_access("clerk", compiled=compiled).catalog.table("stock.tags")
    assert shown is not None
    assert shown.primary_key == ("id",)


def test_a_value_of_the_wrong_kind_is_refused() -> None:
    verdict = compile_shop().access(Principal("ann", ("clerk",), (("since", "yesterday"),)))
    assert isinstance(verdict, Violation)
    assert verdict.code == "not_permitted"
    assert "since" in verdict.message


def test_the_second_wall_runs_under_the_role_with_the_values_as_settings() -> None:
    access = find_access("clerk", compiled=compile_shop(row_level_security=True))
    assert access.session == SessionIdentity(
        "quorumsql_shop_clerk",
        (
            ("quorumsql.country", "DE"),
            ("quorumsql.sellers", "{1,2}"),
            ("quorumsql.since", "2024-01-01"),
        ),
    )


def test_the_second_wall_needs_exactly_one_role() -> None:
    verdict = compile_shop(row_level_security=True).access(Principal("ann", ("clerk", "seller")))
    assert isinstance(verdict, Violation)
    assert "exactly one role" in verdict.message


def test_a_role_that_is_too_long_for_postgresql_is_an_error() -> None:
    longest = "r" * (63 - len("quorumsql_shop_"))
    assert name_database_role("shop", longest) == f"quorumsql_shop_{longest}"
    with pytest.raises(PolicyError, match="63 bytes"):
        name_database_role("shop", f"{longest}r")
    with pytest.raises(PolicyError, match="63 bytes"):
        name_database_role("shop", "r" * 60)


def test_values_may_be_told_only_of_whole_tables() -> None:
    products = frozenset(f"stock.products.{column.name}" for column in PRODUCTS.columns)
    assert find_access("clerk").open_columns == products
    whole = frozenset(
        f"{table.qualified}.{column.name}" for table in SHOP.tables for column in table.columns
    )
    assert find_access("boss").open_columns == whole
    assert open_access(SHOP).open_columns is None


def test_values_behind_a_mask_or_in_a_view_may_not_be_told() -> None:
    view = build_table("sales.names", "name text", kind="view")
    view = replace(view, definition="SELECT name FROM sales.customers")
    compiled = compile_shop(
        replace(SHOP, tables=(*SHOP.tables, view)), boss={"masked_columns": ["stock.products.name"]}
    )
    opened = find_access("boss", compiled=compiled).open_columns
    assert opened is not None
    assert "stock.products.category" in opened
    assert not opened & {"stock.products.name", "sales.names.name"}


def test_a_column_is_masked_unless_a_role_shows_it_in_every_row() -> None:
    assert find_access("clerk").masked_columns("sales.orders") == {"total"}
    assert find_access("clerk").masked_columns("sales.customers") == frozenset()
    assert find_access("seller").masked_columns("sales.employees") == {"name"}
    # The seller sees it only in their rows.
    assert find_access("clerk", "seller").masked_columns("sales.orders") == {"total"}
    assert find_access("clerk", "boss").masked_columns("sales.orders") == frozenset()
    assert find_access("clerk").masked_columns("sales.employees") == frozenset()
    assert open_access(SHOP).masked_columns("sales.orders") == frozenset()


def test_a_key_that_nothing_declares_decides_over_no_row() -> None:
    declared = tuple(key for key in SHOP.foreign_keys if key.table != "stock.returns")
    (back,) = (key for key in SHOP.foreign_keys if key.table == "stock.returns")
    guessed = replace(SHOP, foreign_keys=declared, inferred_keys=(replace(back, inferred=True),))
    with pytest.raises(PolicyError, match=r"stock\.returns"):
        compile_shop(guessed)


def test_a_key_between_hidden_columns_is_hidden_too() -> None:
    keys = tuple(replace(key, inferred=True) for key in SHOP.foreign_keys)
    compiled = compile_shop(replace(SHOP, inferred_keys=keys))
    shown = find_access("clerk", compiled=compiled).catalog
    assert shown.inferred_keys == tuple(replace(key, inferred=True) for key in shown.foreign_keys)
