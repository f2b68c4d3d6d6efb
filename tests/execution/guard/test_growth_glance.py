"""The glance calls nothing small that may grow, whatever kind of node makes it."""

from __future__ import annotations

import pytest
from sqlglot import exp

from execution.guard import value_sizes
from execution.guard.value_sizes import is_small
from execution.guard_dialects import parse_statements
from execution.name_resolution.walk import resolve_names
from execution.policies.access import open_access
from nl2sql.sql.nodes import find_all
from tests.execution.guard.test_growth import judge
from tests.fakes import SHOP

_LONG = f"'{'x' * 9000}'"


def glance(sql: str) -> bool:
    """Whether the query is small at a glance."""
    (tree,) = parse_statements(sql, "postgres")
    nodes = list(find_all(tree, exp.Expr))
    return is_small(nodes, resolve_names(tree, nodes, open_access(SHOP).resolver))


# Few names and no function that is not known.
GROWING = {
    "repeat": ("postgres", "SELECT repeat(repeat('x', 10000), 10000)"),
    "pad": ("postgres", "SELECT lpad(lpad('x', 10000), 10000)"),
    "replace": ("postgres", f"SELECT replace({_LONG}, 'x', {_LONG})"),
    "regexp_replace": ("postgres", f"SELECT regexp_replace({_LONG}, 'x', {_LONG}, 'g')"),
    "series": ("postgres", f"SELECT array_agg({_LONG}) FROM generate_series(1, 90000)"),
    "unnest": (
        "postgres",
        f"SELECT string_agg({_LONG}, '') FROM unnest(string_to_array({_LONG}, NULL)) AS u (x)",
    ),
    "taken_apart": (
        "postgres",
        f"SELECT ARRAY(SELECT {_LONG} FROM pg_catalog.string_to_table({_LONG}, NULL) AS s (x))",
    ),
    "format": ("sqlite", f"SELECT replace(printf('%9000d', 1), ' ', {_LONG})"),
    "recursion": (
        "postgres",
        "WITH RECURSIVE n AS (SELECT 1 AS i, 'x' AS t UNION ALL SELECT i + 1, t || t FROM n "
        "WHERE i < 30) SELECT t FROM n",
    ),
    "rows": ("postgres", f"SELECT {'(' * 30}'x'{', 1)' * 30}"),
    "calls": ("postgres", f"SELECT {'to_json(' * 30}name{')' * 30} FROM customers"),
    "rows_of_a_list": (
        "postgres",
        f"SELECT ARRAY(SELECT {_LONG} FROM json_array_elements({_LONG}) AS s (x))",
    ),
    "lists": ("duckdb", f"SELECT {'[' * 30}'x'{']::text' * 30}"),
    "many_lists": ("duckdb", f"SELECT {'[], ' * 1200} repeat(repeat('x', 10000), 10000)"),
    "searches": (
        "postgres",
        f"SELECT strpos(a, b), strpos(b, a) FROM (SELECT {_LONG} AS a, {_LONG} AS b) AS t",
    ),
    "quotients": ("postgres", f"SELECT {', '.join(['1e100000 / 1e100000'] * 150)}"),
}


@pytest.mark.parametrize(("dialect", "sql"), GROWING.values(), ids=GROWING)
def test_what_grows_is_measured(monkeypatch: pytest.MonkeyPatch, dialect: str, sql: str) -> None:
    # What another query has shown of these nodes is not known yet.
    monkeypatch.setattr(value_sizes, "_kinds", {})
    assert judge(sql, dialect) == "too_much_text"
    assert judge(sql, dialect) == "too_much_text"


# What people ask, though it calls many functions or names many columns.
ORDINARY = {
    "parts": f"SELECT {', '.join(['lower(name), upper(country)'] * 10)} FROM customers",
    "pieces": "SELECT "
    + ", ".join(["substring(name FROM 2), CASE WHEN true THEN name END"] * 18)
    + " FROM customers",
    "formatted": f"SELECT {', '.join(['''to_char(placed_at, 'YYYY')'''] * 12)} FROM orders",
    "products": f"SELECT {', '.join(['total * 2'] * 20)} FROM orders",
    "times": f"SELECT {', '.join(['CURRENT_DATE, CURRENT_TIMESTAMP'] * 18)}",
    "comparisons": "SELECT name FROM customers WHERE "
    + " AND ".join(["name = 'x'", "name <> 'y'", "id > 5", "country IS NULL"] * 8),
    "quotients_of_quotients": (
        "WITH a AS (SELECT total, total / 2 AS half FROM orders) "
        f"SELECT {', '.join(['total / half'] * 10)} FROM a"
    ),
    "series_of_ctes": "WITH a AS (SELECT name FROM customers), b AS (SELECT name FROM a) "
    "SELECT name FROM b",
}


@pytest.mark.parametrize("sql", ORDINARY.values(), ids=ORDINARY)
def test_what_people_ask_is_small_at_a_glance(monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    monkeypatch.setattr(value_sizes, "_kinds", {})
    assert glance(sql)


@pytest.mark.parametrize(
    "condition",
    ["= 'y'", "LIKE 'y'", "IN ('y')", "IS NULL", "BETWEEN 'a' AND 'b'", "IS DISTINCT FROM 'y'"],
)
def test_a_truth_is_no_longer_than_a_word(condition: str) -> None:
    assert judge(f"SELECT repeat(({_LONG} {condition})::text, 3000)") == ""


def test_a_position_is_no_longer_than_its_text() -> None:
    sql = f"SELECT repeat(position('x' IN '{'x' * 3000}')::text, {{times}})"
    assert judge(sql.format(times=3000)) == ""
    assert judge(sql.format(times=4000)) == "too_much_text"
