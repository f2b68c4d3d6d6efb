"""Joins between the linked tables."""

from __future__ import annotations

import pytest
import sqlglot

from nl2sql.catalog import Catalog
from nl2sql.types import JoinPlan, SchemaContext, SchemaLink, SchemaLinks
from retrieval.join_planner import plan_joins
from tests.fakes import SHOP, build_context, build_key, build_table

CONTEXT = build_context()


def plan(*tables: str, context: SchemaContext = CONTEXT) -> JoinPlan:
    links = tuple(SchemaLink("x", table, "", 1.0) for table in tables)
    return plan_joins(context, SchemaLinks(links))


def test_two_tables_are_joined_by_their_key() -> None:
    joins = plan("sales.customers", "sales.orders")
    assert joins.tables == ("sales.customers", "sales.orders")
    assert joins.keys == SHOP.foreign_keys[:1]
    assert joins.skeleton == "FROM customers\nJOIN orders ON orders.customer_id = customers.id"


def test_a_composite_key_joins_on_every_column() -> None:
    assert plan("sales.order_lines", "stock.returns").skeleton == (
        "FROM order_lines\n"
        "JOIN returns ON returns.order_id = order_lines.order_id "
        "AND returns.line_no = order_lines.line_no"
    )


def test_the_tables_between_are_joined_too() -> None:
    joins = plan("sales.customers", "stock.products")
    assert joins.tables == (
        "sales.customers",
        "sales.orders",
        "sales.order_lines",
        "stock.products",
    )
    assert joins.skeleton.count("JOIN") == 3


def test_a_table_that_hangs_together_with_nothing_is_left_out() -> None:
    island = build_table("sales.weather", "day date")
    catalog = Catalog("shop", (*SHOP.tables, island), SHOP.foreign_keys, SHOP.search_path)
    context = build_context(catalog)
    joins = plan("sales.customers", "sales.orders", "sales.weather", context=context)
    assert joins.tables == ("sales.customers", "sales.orders")


@pytest.mark.parametrize(
    ("tables", "planned"),
    [((), ()), (("sales.orders",), ("sales.orders",))],
    ids=["none", "one"],
)
def test_fewer_than_two_tables_need_no_join(
    tables: tuple[str, ...], planned: tuple[str, ...]
) -> None:
    assert plan(*tables) == JoinPlan(tables=planned)


def test_two_columns_name_their_table_and_one_does_not() -> None:
    def column(name: str) -> SchemaLink:
        return SchemaLink("x", "sales.orders", name, 1.0)

    customers = SchemaLink("x", "sales.customers", "", 1.0)
    one = plan_joins(CONTEXT, SchemaLinks((customers, column("total"))))
    two = plan_joins(CONTEXT, SchemaLinks((customers, column("total"), column("status"))))
    assert one.tables == ("sales.customers",)
    assert two.tables == ("sales.customers", "sales.orders")


def test_of_several_keys_the_first_by_name_joins() -> None:
    people = build_table("s.people", "id integer", key=("id",))
    letters = build_table("s.letters", "reader_id integer", "author_id integer")
    keys = (
        build_key("s.letters(reader_id)", "s.people(id)"),
        build_key("s.letters(author_id)", "s.people(id)"),
    )
    context = build_context(Catalog("post", (people, letters), keys, search_path=("s",)))
    assert plan("s.people", "s.letters", context=context).skeleton.endswith(
        "ON letters.author_id = people.id"
    )


@pytest.mark.parametrize(
    "tables",
    [
        ("sales.customers", "sales.orders"),
        ("sales.order_lines", "stock.returns"),
        ("sales.customers", "stock.returns", "sales.employees"),
    ],
    ids=["two", "composite", "three"],
)
def test_a_skeleton_is_sql(tables: tuple[str, ...]) -> None:
    sqlglot.parse_one(f"SELECT 1 {plan(*tables).skeleton}", dialect="postgres")


def test_names_that_need_quotes_have_them_in_the_skeleton() -> None:
    people = build_table("s.People", "User Id integer", key=("User Id",))
    letters = build_table("s.letters", "author id integer")
    keys = (build_key("s.letters(author id)", "s.People(User Id)"),)
    context = build_context(Catalog("post", (people, letters), keys, search_path=("s",)))
    assert plan("s.People", "s.letters", context=context).skeleton == (
        'FROM "People"\nJOIN letters ON letters."author id" = "People"."User Id"'
    )
