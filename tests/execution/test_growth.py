"""Where exactly a text or an expression becomes too large, construct by construct."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from execution.guard import guard_query
from execution.policies.access import open_access
from nl2sql.types import Violation
from tests.execution.test_cost_bombs import nest
from tests.fakes import SHOP


def judge(sql: str) -> str:
    """The violation's code; empty for a query that passes."""
    verdict = guard_query(sql, open_access(SHOP))
    return verdict.code if isinstance(verdict, Violation) else ""


# The output of each level over the one below → so many levels pass, one more does not.
LEVELS = {
    "t || t || t || t": 5,
    "t || t": 11,
    "concat(t, t)": 11,
    "concat_ws(',', t, t)": 11,
    "coalesce(t, t)": 11,
    "greatest(t, t)": 11,
    "least(t, t)": 11,
    "CASE WHEN t = 'a' THEN t ELSE t END": 7,
    "ARRAY[t]::text": 18,
    "ARRAY[t, t]::text": 9,
    "ROW(t, t)::text": 6,
    "to_json(t)::text": 9,
    "to_jsonb(t)": 18,
    "reverse(t)": 18,
    "initcap(t)": 16,
    "overlay(t PLACING t FROM 1 FOR 0)": 9,
}


@pytest.mark.parametrize(("output", "most"), LEVELS.items(), ids=LEVELS)
def test_levels_until_it_is_too_much(output: str, most: int) -> None:
    assert judge(nest(most, output, "AS MATERIALIZED")) == ""
    assert judge(nest(most + 1, output, "AS MATERIALIZED")) == "too_much_text"


@pytest.mark.parametrize(
    "output",
    [
        "t || 'x'",
        "lower(t)",
        "upper(t)",
        "left(t, 5)",
        "right(t, 5)",
        "trim(t)",
        "max(t)",
        "nullif(t, 'x')",
        "substring(t FROM 1)",
        "split_part(t, 'a', 1)",
        "t::varchar",
        "abs(length(t))::text",
        "round(length(t))::text",
        "date_trunc('day', t::timestamp)::text",
        "extract(year FROM t::timestamp)::text",
    ],
)
def test_what_gives_back_its_argument_may_be_nested(output: str) -> None:
    assert judge(nest(40, output, "AS MATERIALIZED")) == ""


def repeat(sign: str, times: int) -> str:
    return f"'{sign * times}'"


# A query with a number in it → the largest that passes.
SIZES: dict[str, tuple[Callable[[int], str], int]] = {
    "gathered_text": (
        lambda n: f"SELECT string_agg(repeat('x', 10000), '') FROM generate_series(1, {n})",
        200,
    ),
    "gathered_from_0": (
        lambda n: f"SELECT string_agg(repeat('x', 10000), '') FROM generate_series(0, {n})",
        199,
    ),
    "gathered_by_steps": (
        lambda n: f"SELECT string_agg(repeat('x', 10000), '') FROM generate_series(2, {n}, 2)",
        400,
    ),
    "gathered_json": (
        lambda n: f"SELECT json_agg(repeat('x', 10000)) FROM generate_series(1, {n})",
        200,
    ),
    "gathered_from_below": (
        lambda n: (
            "SELECT array_agg(repeat('x', 10000)) FROM "
            f"(SELECT 1 FROM generate_series(1, {n})) AS d"
        ),
        200,
    ),
    "gathered_past_a_limit": (
        lambda n: (
            "SELECT string_agg(d.x, '') FROM (SELECT repeat('x', 10000) AS x "
            f"FROM generate_series(1, {n}) LIMIT 5) AS d"
        ),
        200,
    ),
    "gathered_over_a_set_operation": (
        lambda n: (
            "SELECT string_agg(t, '') FROM (SELECT repeat('x', 10000) AS t UNION ALL "
            f"SELECT 'y' FROM generate_series(1, {n})) AS d"
        ),
        199,
    ),
    "gathered_over_a_list": (
        lambda n: (
            "SELECT array_agg(repeat('x', 10000)) FROM "
            f"unnest(ARRAY[{', '.join(['1'] * n)}]) AS u(x)"
        ),
        200,
    ),
    "gathered_outputs_that_make_rows": (
        lambda n: (
            "SELECT array_agg(x) FROM (SELECT repeat('x', 10000) AS x, "
            f"generate_series(1, {n})) AS d"
        ),
        200,
    ),
    "gathered_over_a_named_join": (
        lambda n: (
            "SELECT array_agg(repeat('x', 10000)) FROM (generate_series(1, 10) AS a "
            f"CROSS JOIN generate_series(1, {n}) AS b) AS j"
        ),
        20,
    ),
    "truth": (
        lambda n: (
            f"SELECT string_agg(repeat((g > 1)::text, 10000), '') FROM generate_series(1, {n}) AS g"
        ),
        50,
    ),
    "columns_of_a_table": (lambda n: f"SELECT array_agg(repeat(name, {n})) FROM customers", 100),
    "columns_of_two_tables": (
        lambda n: f"SELECT array_agg(repeat(a.name, {n})) FROM customers a, customers b",
        10,
    ),
    "row": (lambda n: f"SELECT repeat(o::text, {n}) FROM orders o", 8333),
    "row_of_a_query": (
        lambda n: f"SELECT repeat(d::text, {n}) FROM (SELECT name, 'x' AS y FROM customers) AS d",
        10_000,
    ),
    "replacement": (
        lambda n: f"SELECT repeat(replace(name, 'a', {repeat('x', n)}), 1000) FROM customers",
        100,
    ),
    "replacement_of_four": (
        lambda n: f"SELECT repeat(replace(name, 'aaaa', {repeat('x', n)}), 1000) FROM customers",
        # Above 100, the new text itself is the longest part.
        200,
    ),
    "replacement_by_pattern": (
        lambda n: (
            f"SELECT repeat(regexp_replace(name, 'a', {repeat('x', n)}), 1000) FROM customers"
        ),
        99,
    ),
    "replacement_by_a_column": (
        lambda n: f"SELECT repeat(replace('xxxxx', 'x', name), {n}) FROM customers",
        1000,
    ),
    "separator": (
        lambda n: f"SELECT array_to_string(ARRAY[repeat('x', 10000)], {repeat('y', n)})",
        199,
    ),
    "array_of_a_query": (
        lambda n: f"SELECT ARRAY(SELECT repeat('x', 10000) FROM generate_series(1, {n}))",
        200,
    ),
    "either_part_of_a_union": (
        lambda n: (
            f"SELECT repeat(x, {n}) FROM (SELECT name AS x FROM customers UNION "
            "SELECT repeat(name, 100) FROM customers) AS d"
        ),
        1000,
    ),
    "output_among_others": (
        lambda n: (
            f"SELECT repeat(d.x, {n}) FROM (SELECT repeat(name, 100) AS x, id FROM customers) AS d"
        ),
        1000,
    ),
    "output_under_a_new_name": (
        lambda n: (
            f"SELECT repeat(d.y, {n}) FROM (SELECT repeat(name, 100) AS x FROM customers) AS d(y)"
        ),
        1000,
    ),
    "output_of_a_star": (
        lambda n: (
            f"SELECT repeat(e.x, {n}) FROM (SELECT * FROM (SELECT repeat(name, 100) AS x "
            "FROM customers) AS d) AS e"
        ),
        1000,
    ),
    "output_of_a_named_join": (
        lambda n: (
            f"SELECT repeat(j.x, {n}) FROM ((SELECT repeat(name, 100) AS x FROM customers) "
            "AS d CROSS JOIN orders) AS j"
        ),
        1000,
    ),
    "output_of_a_subquery": (
        lambda n: f"SELECT repeat((SELECT repeat(name, 100) FROM customers), {n})",
        1000,
    ),
}


@pytest.mark.parametrize(("build", "most"), SIZES.values(), ids=SIZES)
def test_sizes_until_it_is_too_much(build: Callable[[int], str], most: int) -> None:
    assert judge(build(most)) == ""
    assert judge(build(most + 1)) == "too_much_text"


# -- generators and recursion ------------------------------------------------------------------

COUNTERS = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT {step} FROM n WHERE {bound}) "
DATES = (
    "WITH RECURSIVE n AS (SELECT DATE '2024-01-01' AS d UNION ALL SELECT {step} FROM n "
    "WHERE {bound}) SELECT d FROM n"
)
SEARCH = (
    "WITH RECURSIVE r AS (SELECT min(id) AS k FROM orders UNION ALL SELECT ({step}) FROM r "
    "WHERE r.k IS NOT NULL) SELECT k FROM r"
)
TREE = (
    "WITH RECURSIVE t AS (SELECT id FROM employees UNION ALL SELECT e.id FROM employees e "
    "{join}) SELECT id FROM t"
)


def count(step: str, bound: str) -> str:
    return f"{COUNTERS.format(step=step, bound=bound)} SELECT i FROM n"


ENDING = {
    "series": "SELECT generate_series(0, 100000)",
    "series_of_a_float": "SELECT generate_series(1, 1e5)",
    "series_of_twos": "SELECT generate_series(0, 200000, 2)",
    "series_backwards": "SELECT generate_series(200000, 0, -2)",
    "series_of_casts": "SELECT generate_series(5::int, -(10))",
    "days": "SELECT generate_series(DATE '1751-01-01', DATE '2024-01-01', INTERVAL '1 day')",
    "days_apart": "SELECT generate_series(DATE '2024-01-01', DATE '2024-02-01', INTERVAL '1' day)",
    "weeks": "SELECT generate_series(DATE '0200-01-01', DATE '2024-01-01', INTERVAL '1 week')",
    "months": "SELECT generate_series(DATE '0001-01-01', DATE '7600-01-01', INTERVAL '1 month')",
    "years": "SELECT generate_series(DATE '0001-01-01', DATE '9999-01-01', INTERVAL '1 year')",
    "days_backwards": "SELECT generate_series(DATE '2024-02-01', DATE '2024-01-01', "
    "INTERVAL '-1 day')",
    "timestamps": "SELECT generate_series(TIMESTAMP '2024-01-01 00:00', TIMESTAMP '2024-01-02', "
    "INTERVAL '1 day')",
    "days_of_the_data": "SELECT generate_series(min(placed_at), max(placed_at), '1 day') "
    "FROM orders",
    "repeat": "SELECT repeat('x', 10000), repeat('x', -3), repeat('x', CAST(7 AS int))",
    "pad": "SELECT lpad('x', 10000), rpad('x', (5))",
    "replacement_by_nothing": "SELECT regexp_replace(name, 'x', ''), replace(name, 'x', '') "
    "FROM customers",
    "counter_in_parentheses": "WITH RECURSIVE n AS ((SELECT 1 AS i) UNION ALL "
    "(SELECT (i + 1)::int FROM n WHERE (i < 12))) SELECT i FROM n",
    "counter_with_an_alias": count("i + 1 AS j", "i < 12"),
    "counter_to_the_most": count("i + 1", "i < 100000"),
    "bound_on_the_left": count("i + 1", "12 > i"),
    "bound_on_the_left_downwards": count("i - 1", "-12 <= i"),
    "bound_on_the_next": count("i + 1", "i + 1 <= 12"),
    "bound_from_the_data": count("i + 1", "i < (SELECT count(*) FROM orders)"),
    "countdown": count("i - 1", "i > 1"),
    "countdown_including": count("i - 1", "i >= 1"),
    "one_of_several_bounds": count("i + 1", "i <> 7 AND i < 12"),
    "dates_until_today": DATES.format(
        step="(d + INTERVAL '1 day')::date", bound="d < CURRENT_DATE"
    ),
    "dates_until_now": DATES.format(step="d + INTERVAL '1 week'", bound="d < now()"),
    "key_by_using": TREE.format(join="JOIN t USING (id)"),
    "key_by_in": TREE.format(join=", t WHERE e.manager_id IN (SELECT t.id)"),
    "key_without_a_name": TREE.format(join=", t WHERE manager_id = t.id"),
    "next_value": SEARCH.format(step="SELECT min(a.id) FROM orders a WHERE a.id > r.k"),
    "next_of_some": SEARCH.format(
        step="SELECT min(a.id) AS m FROM orders a WHERE a.total > 5 AND (a.id > r.k)"
    ),
    "value_before": SEARCH.format(step="SELECT max(a.id) FROM orders a WHERE a.id < r.k"),
}


@pytest.mark.parametrize("sql", ENDING.values(), ids=ENDING)
def test_what_ends_passes(sql: str) -> None:
    assert judge(sql) == ""


ENDLESS = {
    "too_many_rows": {
        "series": "SELECT generate_series(0, 100001)",
        "series_of_twos": "SELECT generate_series(0, 200001, 2)",
        "series_of_an_unknown_step": "SELECT generate_series(1, 5, NULL)",
        "series_of_texts": "SELECT generate_series(1, '5'::int)",
        "days": "SELECT generate_series(DATE '1750-01-01', DATE '2024-01-01', INTERVAL '1 day')",
        "weeks": "SELECT generate_series(DATE '0001-01-01', DATE '2024-01-01', INTERVAL '1 week')",
        "months": "SELECT generate_series(DATE '0001-01-01', DATE '7800-01-01', "
        "INTERVAL '1 month')",
        "hours": "SELECT generate_series(DATE '2024-01-01', DATE '2024-02-01', INTERVAL '1' hour)",
        "hours_of_the_data": "SELECT generate_series(min(placed_at), max(placed_at), '23 hours') "
        "FROM orders",
        "no_days": "SELECT generate_series(min(placed_at), max(placed_at), '0 days') FROM orders",
        "numbers_between_dates": "SELECT generate_series(DATE '2024-01-01', DATE '2024-02-01', 5)",
        "unknown_unit": "SELECT generate_series(min(placed_at), max(placed_at), '1 fortnight') "
        "FROM orders",
    },
    "too_much_text": {
        "repeat": "SELECT repeat('x', 10001)",
        "pad": "SELECT rpad('x', 10001)",
        "repeat_a_text": "SELECT repeat('x', '5'::int)",
        "repeat_an_unknown": "SELECT repeat('x', id) FROM orders",
    },
    "endless_recursion": {
        "no_second_part": "WITH RECURSIVE n AS (SELECT 1 AS i FROM n) SELECT i FROM n",
        "half_steps": count("i + 0.5", "i < 5"),
        "multiplied": count("i * 2", "i < 5"),
        "constant": count("1", "i < 5"),
        "another_column": "WITH RECURSIVE n AS (SELECT 1 AS i, 2 AS j UNION ALL SELECT i, j + 1 "
        "FROM n WHERE i < 5) SELECT i FROM n",
        "not_equal": count("i + 1", "i <> 5"),
        "either_of_two_bounds": count("i + 1", "i < 5 OR i > 7"),
        "bound_too_far": count("i + 1", "i < 100001"),
        "bound_below": count("i + 1", "i > 5"),
        "bound_above": count("i - 1", "5 > i"),
        "bound_by_itself": count("i + 1", "i < i + 1"),
        "hours": DATES.format(step="d + INTERVAL '1 hour'", bound="d < DATE '2024-02-01'"),
        "column_plus_a_column": count("i + i", "i < 5"),
        "key_that_is_a_constant": TREE.format(join=", t WHERE e.manager_id = 1"),
        "key_within_one_source": TREE.format(join=", t WHERE e.manager_id = e.id"),
        "same_value": SEARCH.format(step="SELECT min(a.id) FROM orders a WHERE a.id >= r.k"),
        "any_value": SEARCH.format(step="SELECT min(a.id) FROM orders a"),
        "some_value": SEARCH.format(step="SELECT a.id FROM orders a WHERE a.id > r.k LIMIT 1"),
        "value_after_a_constant": SEARCH.format(
            step="SELECT min(a.id) FROM orders a WHERE a.id > 5"
        ),
        "least_value_before": SEARCH.format(step="SELECT min(a.id) FROM orders a WHERE a.id < r.k"),
        "least_of_another": SEARCH.format(
            step="SELECT min(a.total) FROM orders a WHERE a.id > r.k"
        ),
        "next_value_and_more": "WITH RECURSIVE r AS (SELECT min(id) AS k, 1 AS j FROM orders UNION "
        "ALL SELECT (SELECT min(a.id) FROM orders a WHERE a.id > r.k), 2 FROM r) SELECT k FROM r",
    },
}


@pytest.mark.parametrize(
    ("code", "sql"),
    [
        pytest.param(code, sql, id=f"{code}-{title}")
        for code, queries in ENDLESS.items()
        for title, sql in queries.items()
    ],
)
def test_what_does_not_end_is_refused(code: str, sql: str) -> None:
    assert judge(sql) == code
