"""The SQL of definitions: what fits the schema, how its tables are joined, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from nl2sql.catalog import Catalog
from nl2sql.types import GuardedQuery
from retrieval.semantics.resolution import resolve_definitions
from tests.fakes import SHOP
from tests.fakes.shop import build_key, build_table
from tests.golden import ARROW, load_cases
from tests.retrieval.semantics.files import REVENUE, SPENT, build_definition, build_file


def find_problem(catalog: Catalog = SHOP, **sections: Any) -> str:
    """The only problem, with its place."""
    resolved, (problem,) = resolve_definitions(build_file(**sections), catalog)
    assert not resolved
    return f"{'.'.join(problem.place)}: {problem.text}"


def test_declared_keys_join_the_tables() -> None:
    assert REVENUE.tables == ("sales.order_lines", "sales.orders")
    assert REVENUE.query == (
        f"SELECT {SPENT}\n"
        "FROM order_lines\n"
        "JOIN orders ON order_lines.order_id = orders.id\n"
        "WHERE orders.status <> 'cancelled'"
    )
    assert REVENUE.joins == "FROM order_lines JOIN orders ON order_lines.order_id = orders.id"
    assert set(REVENUE.columns) == {
        "sales.order_lines.quantity",
        "sales.order_lines.price",
        "sales.order_lines.order_id",
        "sales.orders.id",
        "sales.orders.status",
    }


def test_names_are_written_as_the_catalog_resolves_them_and_the_rest_stays() -> None:
    twin = build_table("old.orders", "id integer", key=("id",))
    catalog = replace(SHOP, tables=(*SHOP.tables, twin))
    made = build_definition(
        catalog, measures={"m": "SUM( Orders.TOTAL ) FILTER (WHERE sales.orders.status = 'x.y')"}
    )
    assert made.expression == (
        "SUM( sales.orders.total ) FILTER (WHERE sales.orders.status = 'x.y')"
    )
    tier = build_definition(dimensions={"tier": 'customers."Loyalty Tier"'})
    assert tier.expression == 'customers."Loyalty Tier"'


@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb"])
def test_letters_of_any_alphabet_keep_their_places(dialect: str) -> None:
    sizes = build_table("s.maße", "größe integer", "日本 integer", "x integer")
    catalog = Catalog("odd", (sizes,), search_path=("s",), dialect=dialect)
    text = """sum(maße."größe" + maße.x * maße."日本")"""
    made = build_definition(
        catalog, measures={"m": {"expression": text, "filter": "maße.x <> '🚲'"}}
    )
    assert made.query.replace('"', "") == (
        "SELECT sum(maße.größe + maße.x * maße.日本)\nFROM maße\nWHERE maße.x <> '🚲'"
    )


@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb"])
def test_the_guard_lets_the_queries_pass(dialect: str) -> None:
    catalog = replace(SHOP, dialect=dialect)
    for sections in (
        {"measures": {"m": {"expression": SPENT, "filter": "orders.status <> 'x'"}}},
        {"dimensions": {"d": "upper(customers.name)"}},
        {"filters": {"f": "orders.status IN ('a', 'b') AND customers.country IS NULL"}},
    ):
        query = build_definition(catalog, **sections).query
        assert isinstance(guard_query(query, open_access(catalog)), GuardedQuery)


@pytest.mark.parametrize(("section", "case"), load_cases("definition_problems"))
def test_what_does_not_fit_is_said_with_what_to_do(section: str, case: str) -> None:
    sql, _, expected = case.partition(ARROW)
    sections: dict[str, Any] = {section: {"d": sql}}
    problem = find_problem(**sections)
    assert problem.startswith(f"{section}.d")
    assert expected in problem


def test_a_problem_names_the_key_that_is_wrong() -> None:
    part = {"expression": "sum(orders.total)", "filter": "orders.x = 1"}
    assert find_problem(measures={"m": part}).startswith("measures.m.filter: sales.orders has no")
    assert "choose another" in find_problem(dimensions={"the": "orders.status"})


def test_one_word_has_one_meaning() -> None:
    file = build_file(
        measures={"revenue": "sum(orders.total)"},
        filters={"open": {"condition": "orders.status = 'open'", "synonyms": ["Revenues"]}},
    )
    resolved, (problem,) = resolve_definitions(file, SHOP)
    assert [each.name for each in resolved] == ["revenue"]
    assert problem.place == ("filters", "open")
    assert problem.text == "'Revenues' means 'revenue' already; one word has one meaning"


ADDRESSES = Catalog(
    "shop",
    (
        build_table("s.orders", "id integer", "bill_id integer", "ship_id integer", key=("id",)),
        build_table("s.addresses", "id integer", "city text", key=("id",)),
        build_table("s.islands", "id integer", "size integer", key=("id",)),
    ),
    (
        build_key("s.orders(bill_id)", "s.addresses(id)"),
        build_key("s.orders(ship_id)", "s.addresses(id)"),
    ),
    search_path=("s",),
)


def test_of_several_joins_the_file_names_one() -> None:
    count = {"expression": "count(orders.id)", "filter": "addresses.city = 'Ulm'"}
    assert "in several ways; write the one that is meant under joins" in find_problem(
        ADDRESSES, measures={"m": count}
    )
    joined = {**count, "joins": ["orders.ship_id = addresses.id"]}
    made = build_definition(ADDRESSES, measures={"m": joined})
    assert made.joins == "FROM orders JOIN addresses ON orders.ship_id = addresses.id"


@pytest.mark.parametrize(
    ("joins", "expected"),
    [
        ([], "no foreign keys connect s.islands and s.orders; write how"),
        (["islands.id"], "write a.x = b.y"),
        (["islands.id = islands.size"], "compare columns of two tables"),
        (
            ["islands.id = addresses.id"],
            "they do not connect s.addresses and s.islands and s.orders",
        ),
        (["islands.id = order.id"], "there is no table 'order'"),
        (["islands.id = orders.id", "islands.size = orders.bill_id"], "they join a table twice"),
    ],
)
def test_joins_that_do_not_help_are_refused(joins: list[str], expected: str) -> None:
    part = {"expression": "sum(islands.size)", "filter": "orders.id = 1", "joins": joins}
    assert expected in find_problem(ADDRESSES, measures={"m": part})
