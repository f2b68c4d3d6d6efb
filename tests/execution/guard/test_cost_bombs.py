"""Queries that would explode are refused by their text; what people write passes."""

from __future__ import annotations

import pytest

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from nl2sql.types import GuardedQuery, Violation
from tests.execution.expecting import expect
from tests.fakes import SHOP


def nest(levels: int, output: str, keyword: str = "AS") -> str:
    """CTEs on top of one another, each with ``output`` over the column ``t`` of the one below."""
    ctes = ["a0 AS (SELECT 'x' || now()::text AS t)"]
    ctes += [
        f"a{level} {keyword} (SELECT {output} AS t FROM a{level - 1})"
        for level in range(1, levels + 1)
    ]
    return f"WITH {', '.join(ctes)} SELECT length(t) FROM a{levels}"


BOMBS = {
    "too_many_rows": {
        "series_backwards": "SELECT generate_series(1000000000, 1, -1)",
        "series_of_small_steps": "SELECT generate_series(0, 10, 0.000001)",
        "series_of_no_step": "SELECT generate_series(0, 10, 0)",
        "series_of_seconds": (
            "SELECT generate_series(DATE '2000-01-01', DATE '2030-01-01', INTERVAL '1 second')"
        ),
        "series_of_days_for_ages": (
            "SELECT generate_series(DATE '0001-01-01', DATE '9999-12-31', INTERVAL '1 day')"
        ),
    },
    "too_much_text": {
        "repeat": "SELECT repeat('x', 1000000000)",
        "repeat_a_column": "SELECT repeat('x', id) FROM orders",
        "repeat_of_repeat": "SELECT repeat(repeat('x', 10000), 10000)",
        "repeat_only_measured": "SELECT length(repeat(repeat('x', 9999), 9999))",
        "repeat_through_a_subquery": (
            "SELECT repeat(t, 10000) FROM (SELECT repeat('x', 10000) AS t) AS a"
        ),
        "lpad": "SELECT lpad('x', 1000000000)",
        "array_of_padded_texts": "SELECT '{a,b}'::bpchar(8000000)[]",
        "array_of_arrays_of_bits": "SELECT ARRAY[ARRAY['1']]::bit(8000000)[][]",
        "replace_many_times": "SELECT " + "replace(" * 9 + "'x'" + ", 'x', 'xxxxxxxxxx')" * 9,
        "replace_with_itself": nest(4, "replace(t, 'x', t)"),
        "expression": nest(10, "t || t || t || t"),
        "text": nest(14, "t || t || t || t", "AS MATERIALIZED"),
        "array": nest(14, "ARRAY[t, t, t, t]::text", "AS MATERIALIZED"),
        "row": nest(14, "ROW(t, t, t, t)::text", "AS MATERIALIZED"),
        "json": nest(30, "to_json(t)::text", "AS MATERIALIZED"),
        "overlay": nest(30, "overlay(t PLACING t FROM 1 FOR 0)", "AS MATERIALIZED"),
        "arithmetic": "WITH "
        + ", ".join(
            ["a0 AS (SELECT 1 AS t)"]
            + [f"a{at} AS (SELECT t + t + t + t AS t FROM a{at - 1})" for at in range(1, 10)]
        )
        + " SELECT t FROM a9",
        "gathered": "SELECT array_agg(repeat('x', 10000)) FROM generate_series(1, 100000) AS g",
        "gathered_text": "SELECT string_agg(repeat('x', 10000), '') FROM generate_series(1, 90000)",
        "gathered_over_tables": (
            "SELECT array_agg(repeat('x', 10000)) FROM orders a, orders b, orders c"
        ),
        "doubling_recursion": (
            "WITH RECURSIVE n AS (SELECT 1 AS i, 'x' AS t UNION ALL "
            "SELECT i + 1, t || t FROM n WHERE i < 30) SELECT max(length(t)) FROM n"
        ),
        "columns_that_feed_each_other": (
            "WITH RECURSIVE n AS (SELECT 1 AS i, 'x' AS t, 'y' AS u UNION ALL "
            "SELECT i + 1, u || t, t || u FROM n WHERE i < 25) SELECT max(length(t)) FROM n"
        ),
    },
    "endless_recursion": {
        "rows_double": (
            "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n CROSS JOIN "
            "(SELECT 1 UNION ALL SELECT 2) AS x WHERE i < 40) SELECT i FROM n"
        ),
        "table_without_a_key": (
            "WITH RECURSIVE n AS (SELECT id FROM orders UNION ALL SELECT n.id FROM n, orders) "
            "SELECT id FROM n"
        ),
    },
}

HARMLESS = {
    "months": "SELECT generate_series(1, 12) AS month",
    "days_of_a_year": (
        "SELECT d FROM generate_series(DATE '2024-01-01', DATE '2024-12-31', INTERVAL '1 day') d"
    ),
    "months_of_the_data": (
        "SELECT generate_series(date_trunc('month', min(placed_at)), "
        "date_trunc('month', max(placed_at)), '1 month'::interval) FROM orders"
    ),
    "stars": "SELECT repeat('*', 5), lpad(name, 20) FROM customers",
    "cleaning": "SELECT replace(replace(name, ',', ''), '$', '') FROM customers",
    "list_of_names": "SELECT string_agg(name, ', ') FROM customers",
    "names_over_joins": (
        "SELECT string_agg(c.name || ' ' || c.country, ', ') FROM customers c JOIN orders o "
        "ON o.customer_id = c.id JOIN order_lines l ON l.order_id = o.id"
    ),
    "hierarchy_with_its_path": (
        "WITH RECURSIVE t AS (SELECT id, name::text AS path FROM employees WHERE manager_id IS "
        "NULL UNION ALL SELECT e.id, t.path || '/' || e.name FROM employees e JOIN t "
        "ON e.manager_id = t.id) SELECT path FROM t"
    ),
    "pipeline_of_ctes": (
        "WITH a AS (SELECT id, total FROM orders), b AS (SELECT id, total * 2 AS x, total AS y "
        "FROM a), c AS (SELECT id, x + y AS z, x - y AS w FROM b) SELECT z * w / (z + w) FROM c"
    ),
}


@pytest.mark.parametrize(
    ("code", "sql"),
    [
        pytest.param(code, sql, id=f"{code}-{title}")
        for code, bombs in BOMBS.items()
        for title, sql in bombs.items()
    ],
)
def test_a_bomb_is_refused_before_it_runs(code: str, sql: str) -> None:
    verdict = expect(Violation, guard_query(sql, open_access(SHOP)))
    assert verdict.code == code, verdict
    assert verdict.message


@pytest.mark.parametrize("sql", HARMLESS.values(), ids=HARMLESS)
def test_what_people_write_passes(sql: str) -> None:
    expect(GuardedQuery, guard_query(sql, open_access(SHOP)))


# Calls with a path in a JSON document.
PATHS = [
    "jsonb_path_query_first(d, {})",
    "jsonb_path_exists(d, {})",
    "jsonb_path_exists(d, {}, '{{}}')",
    "jsonb_path_match(d, {})",
    "d @? ({})",
    "d @@ ({})",
]


@pytest.mark.parametrize("call", PATHS)
def test_a_path_descends_once_at_most(call: str) -> None:
    def judge(path: str) -> str:
        sql = f"SELECT {call.format(path)} FROM (SELECT name::jsonb AS d FROM customers) AS t"
        verdict = guard_query(sql, open_access(SHOP))
        return verdict.code if isinstance(verdict, Violation) else ""

    for path in (
        "'$.a[*] ? (@ > 1)'",
        "'strict $.**.name'",
        "('$.**{2 to 3}')",
        "'$[0, 1, 2, last].*.*'",
    ):
        assert judge(path) == "", path
    for path in (
        "'$.**.**'",
        "'strict $.**.a.**{1 to 5}'",
        "E'$.*\\x2a.**'",
        "U&'$.**.\\002a*'",
        "$$$.**.**$$",
        "'$.*' '*.**'",
        "'$.**' || '.**'",
        "CASE WHEN true THEN '$.**.**' END",
        f"'${'[0, 0]' * 11}'",
    ):
        assert judge(path) == "too_much_text", path


def test_what_a_text_is_searched_for_may_be_a_column() -> None:
    sql = "SELECT count(*) FROM customers WHERE name @@ country AND name @@ 'fat & rat'"
    assert isinstance(guard_query(sql, open_access(SHOP)), GuardedQuery)
