"""Each reader by itself, on texts that the readers before it would not have let through."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from execution.allowlists import load_allowlist
from execution.duckdb.second_check import (
    _DuckdbReading,
    check_grammar as check_duckdb,
    parse_statement,
)
from execution.guard.guard import _check_again, guard_query
from execution.guard_dialects import parse_statements
from execution.policies.access import open_access
from execution.postgres.second_check import check_grammar, list_functions
from execution.sqlite.second_check import check_functions, check_wrapped
from nl2sql.types import GuardedQuery, Violation
from tests.execution.expecting import expect
from tests.execution.policies.shop import compile_shop, find_access
from tests.fakes import SHOP, build_table
from tests.golden import load_cases

# A filter that every database reads.
SELLER = {"row_filters": {"sales.employees": "id IN :sellers"}, "rows": "all"}
VIEW = replace(
    build_table("sales.open_orders", "id integer", "total numeric", kind="view"),
    definition="SELECT id, total FROM sales.orders ORDER/**/BY id",
)
WITH_VIEW = replace(SHOP, tables=(*SHOP.tables, VIEW))


TABLES = {
    "postgres": frozenset({"sales.orders"}),
    "duckdb": frozenset({"sales.orders", "sales.customers"}),
    "duckdb-orders": frozenset({"main.Orders"}),
}


@pytest.mark.parametrize(
    ("heading", "sql"),
    [
        *load_cases("second_readers"),
        ("postgres unparsable", f"SELECT {' || '.join(['1'] * 3000)}"),
        ("duckdb unparsable", "SELECT '\ud800'"),
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_the_second_reader_by_itself(heading: str, sql: str) -> None:
    kind, code = heading.split()
    if kind == "postgres":
        found = check_grammar(sql, sql, TABLES[kind], load_allowlist("postgres"), SHOP)
    else:
        found = check_duckdb(sql, TABLES[kind], load_allowlist("duckdb"))
    assert (found.code if found else "passes") == code, found


@pytest.mark.parametrize("condition", [case for _, case in load_cases("wrapper_conditions")])
def test_a_wrapper_is_known_wherever_it_stands(condition: str) -> None:
    wrapper = f'SELECT _qsql_0."id" FROM "sales"."orders" AS _qsql_0 WHERE {condition}'
    allowlist = load_allowlist("postgres")
    for sql, code in (
        (f"SELECT o.id FROM ({wrapper}) AS o", ""),
        (f"SELECT   o.id\nFROM ({wrapper}) AS o", ""),
        (f"SELECT o.id FROM ({wrapper} OR 1 = 1) AS o", "unfiltered_table"),
    ):
        query = "SELECT o.id FROM orders AS o"
        tables = frozenset({"sales.orders"})
        found = check_grammar(query, sql, tables, allowlist, SHOP, {"sales.orders": [wrapper]})
        assert (found.code if found else "") == code, found


def test_what_a_text_calls_is_listed() -> None:
    sql = 'SELECT lab.f(lower(x)) FROM (SELECT pg_catalog.upper(y) AS x FROM "g(z)" AS h) AS a'
    assert list_functions(sql) == {"lab.f", "lower", "upper"}


def test_what_sqlglot_reads_a_second_time() -> None:
    tables = frozenset({"s.f", "s.b", "s.d"})
    text = 'SELECT 1 FROM "s"."f" AS f, "s"."b" AS b, "s"."d" AS d'
    assert check_wrapped(text, tables, None) is None
    for sql, code in (
        (f"{text} WHERE", "unparsable"),
        (f"{text}; SELECT 1", "multiple_statements"),
        ("DELETE FROM orders", "multiple_statements"),
    ):
        found = check_wrapped(sql, tables, None)
        assert found is not None
        assert found.code == code
    more = f'{text}, "s"."e" AS e, "s"."c" AS c, "s"."a" AS a, g'
    disagreement = check_wrapped(more, tables, None)
    assert disagreement is not None
    assert (disagreement.code, disagreement.fragment) == ("tables_disagree", "g, s.a, s.c, s.e")


@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb"])
def test_the_guard_asks_a_second_reader(dialect: str) -> None:
    access = open_access(replace(SHOP, dialect=dialect))
    allowlist = load_allowlist(dialect)
    table, nothing = frozenset({"sales.orders"}), frozenset[str]()
    text = 'SELECT o.id FROM "sales"."orders" AS o'
    assert _check_again(text, text, table, {}, access, allowlist) is None
    for tables, sql in ((nothing, text), (table, "SELECT 1"), (table, f"{text}\0")):
        assert isinstance(_check_again(text, sql, tables, {}, access, allowlist), Violation)


# -- what was found once ----------------------------------------------------------------------


def test_a_hidden_column_in_double_quotes_is_no_string_on_sqlite() -> None:
    compiled = compile_shop(replace(SHOP, dialect="sqlite"), seller=SELLER)
    access = find_access("clerk", compiled=compiled)
    verdict = expect(Violation, guard_query('SELECT "Loyalty Tier" FROM customers', access))
    assert verdict.code == "not_permitted"


def test_sqlites_own_list_refuses_a_table_as_a_list() -> None:
    (tree,) = parse_statements("SELECT id FROM orders WHERE id IN orders", "sqlite")
    assert tree is not None
    assert isinstance(check_functions(tree, load_allowlist("sqlite")), Violation)


@pytest.mark.parametrize("tables", ["customers, products", "products, customers"])
def test_a_hidden_column_is_not_permitted_wherever_its_table_stands(tables: str) -> None:
    compiled = compile_shop(replace(SHOP, dialect="duckdb"), seller=SELLER)
    access = find_access("clerk", compiled=compiled)
    joined = tables.replace(",", " CROSS JOIN")
    for source in (tables, f"({joined}) AS j"):
        for exception, code in (
            ('EXCLUDE ("Loyalty Tier")', "not_permitted"),
            ("EXCLUDE (nothing)", "unknown_column"),
        ):
            verdict = expect(Violation, guard_query(f"SELECT * {exception} FROM {source}", access))
            assert verdict.code == code, verdict


def test_a_view_that_some_role_sees_as_a_table_is_one() -> None:
    visible = ["sales.customers", "sales.orders", "sales.open_orders"]
    compiled = compile_shop(WITH_VIEW, clerk={"tables": {"visible": visible}})
    for roles, is_table in ((("clerk",), False), (("clerk", "boss"), True)):
        access = find_access(*roles, compiled=compiled)
        verdict = expect(GuardedQuery, guard_query("SELECT id FROM open_orders", access))
        assert ('"open_orders"' in verdict.sql) == is_table
        assert ("sales.open_orders" in verdict.tables) == is_table


def test_what_one_role_expands_takes_no_filter_from_another() -> None:
    visible = ["sales.customers", "sales.orders", "sales.open_orders"]
    compiled = compile_shop(
        WITH_VIEW,
        clerk={"tables": {"visible": visible}},
        seller={
            "tables": {"visible": ["sales.open_orders"]},
            "row_filters": {"sales.open_orders": "total > 5"},
            "masked_columns": [],
        },
    )
    access = find_access("clerk", "seller", compiled=compiled)
    verdict = expect(GuardedQuery, guard_query("SELECT id FROM open_orders", access))
    assert verdict.predicates == ('sales.open_orders: _qsql_0."total" > 5',)


def put(node: Any, key: str, value: object) -> int:
    """Puts the value wherever the key stands; gives how often."""
    if isinstance(node, list):
        return sum(put(child, key, value) for child in node)
    if not isinstance(node, dict):
        return 0
    found = sum(put(child, key, value) for child in node.values())
    if key in node:
        node[key] = value
    return found + (key in node)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("limit_type", "NEW"),
        ("ref_type", "DEPENDENT"),
        ("syntax_type", "LAMBDA_KEYWORD"),
        ("nearest_count", 2),
        ("nearest_order_type", "DESCENDING"),
    ],
)
def test_a_value_that_nobody_thought_of_is_refused(key: str, value: object) -> None:
    """As a later version of DuckDB may write it."""
    pair = "sales.orders AS o JOIN sales.orders AS p ON true"
    tree = parse_statement(f"SELECT o.id -> '$.a' FROM {pair} LIMIT 5")
    reading = _DuckdbReading(load_allowlist("duckdb"), None)
    assert reading.check(tree) is None
    assert put(tree, key, value) > 0
    refused = expect(Violation, reading.check(tree))
    assert (refused.code, refused.fragment) == ("node_not_allowed", key)
