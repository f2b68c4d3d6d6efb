"""Generators of rows and recursion: what ends soon passes, what may not is refused."""

from __future__ import annotations

import pytest

from tests.execution.guard.test_growth import judge

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
    "days_in_the_plural": "SELECT generate_series(DATE '2024-01-01', DATE '2024-02-01', "
    "INTERVAL '2 days')",
    "days_backwards": "SELECT generate_series(DATE '2024-02-01', DATE '2024-01-01', "
    "INTERVAL '-1 day')",
    "timestamps": "SELECT generate_series(TIMESTAMP '2024-01-01 00:00', TIMESTAMP '2024-01-02', "
    "INTERVAL '1 day')",
    "days_of_the_data": "SELECT generate_series(min(placed_at), max(placed_at), '1 day') "
    "FROM orders",
    "series_to_the_least": "SELECT generate_series(1, least(total, 100001)) FROM orders",
    "series_down_to_the_greatest": "SELECT generate_series(1, greatest(total, -99999), -1) "
    "FROM orders",
    "days_with_a_sign": "SELECT generate_series(min(placed_at), max(placed_at), '+1 day') "
    "FROM orders",
    "days_until_a_date": "SELECT generate_series(min(placed_at), DATE '2024-01-01', '1 day') "
    "FROM orders",
    "days_since_a_date": "SELECT generate_series(DATE '2024-01-01', max(placed_at), '1 day') "
    "FROM orders",
    "counter_beside_a_sum_of_a_function": "WITH RECURSIVE n AS (SELECT 1 AS i, 1 AS s UNION ALL "
    "SELECT i + 1, abs(s) + 1 FROM n WHERE i < 5) SELECT i FROM n",
    "bound_on_the_next_day": DATES.format(
        step="(d + INTERVAL '1 day')::date", bound="d + INTERVAL '1 day' < DATE '2024-02-01'"
    ),
    "factorial": "SELECT factorial(1000)",
    "filled": "SELECT array_fill(0, ARRAY[100, 100])",
    "repeat": "SELECT repeat('x', 10000), repeat('x', -3), repeat('x', CAST(7 AS int))",
    "pad": "SELECT lpad('x', 10000), rpad('x', (5))",
    "replacement_by_nothing": "SELECT regexp_replace(name, 'x', ''), replace(name, 'x', '') "
    "FROM customers",
    "counter_in_parentheses": "WITH RECURSIVE n AS ((SELECT 1 AS i) UNION ALL "
    "(SELECT (i + 1)::int FROM n WHERE (i < 12))) SELECT i FROM n",
    "counter_with_an_alias": count("i + 1 AS j", "i < 12"),
    "counter_to_the_most": count("i + 1", "i < 100000"),
    "counter_in_capitals": count("i + 1", "I < 12"),
    "countdown_to_the_most": count("i - 1", "i > -100000"),
    "bound_on_the_left": count("i + 1", "12 > i"),
    "bound_on_the_left_downwards": count("i - 1", "-12 <= i"),
    "bound_on_the_next": count("i + 1", "i + 1 <= 12"),
    "bound_from_the_data": count("i + 1", "i < (SELECT count(*) FROM orders)"),
    "bound_on_the_one_before": count("i - 1", "i - 1 > 1"),
    "countdown": count("i - 1", "i > 1"),
    "countdown_including": count("i - 1", "i >= 1"),
    "one_of_several_bounds": count("i + 1", "i <> 7 AND i < 12"),
    "names_of_its_own": "WITH RECURSIVE n (i, t) AS (SELECT 1, 'x' UNION ALL SELECT k + 1, u "
    "FROM n AS m (k, u) WHERE k < 12) SELECT i FROM n",
    "second_of_two_columns": "WITH RECURSIVE n (i, t) AS (SELECT 'x', 1 UNION ALL SELECT i, t + 1 "
    "FROM n WHERE t < 12) SELECT i FROM n",
    "values_first": "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE "
    "i < 12) SELECT i FROM n",
    "star_first": "WITH RECURSIVE n (i) AS (SELECT * FROM (SELECT 1) AS b UNION ALL SELECT i + 1 "
    "FROM n WHERE i < 12) SELECT i FROM n",
    "dates_until_today": DATES.format(
        step="(d + INTERVAL '1 day')::date", bound="d < CURRENT_DATE"
    ),
    "dates_until_now": DATES.format(step="d + INTERVAL '1 week'", bound="d < now()"),
    "key_by_using": TREE.format(join="JOIN t USING (id)"),
    "key_by_using_beside_a_join": TREE.format(
        join="JOIN t USING (id) LEFT JOIN customers AS c ON true"
    ),
    "key_by_in": TREE.format(join=", t WHERE e.manager_id IN (SELECT t.id)"),
    "key_without_a_name": TREE.format(join=", t WHERE manager_id = t.id"),
    "next_value": SEARCH.format(step="SELECT min(a.id) FROM orders a WHERE a.id > r.k"),
    "next_value_until_there_is_no_other": "WITH RECURSIVE r AS (SELECT min(id) AS k FROM orders "
    "UNION SELECT (SELECT min(a.id) FROM orders a WHERE a.id > r.k) FROM r) SELECT k FROM r",
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
        "series_to_more_than_the_least": "SELECT generate_series(1, least(total, 100002)) "
        "FROM orders",
        "series_to_the_least_of_columns": "SELECT generate_series(1, least(total, id)) FROM orders",
        "series_to_the_greatest": "SELECT generate_series(1, greatest(total, 5)) FROM orders",
        "series_down_to_the_least": "SELECT generate_series(1, least(total, 5), -1) FROM orders",
        "two_signs": "SELECT generate_series(min(placed_at), max(placed_at), '+-5 days') "
        "FROM orders",
        "two_units": "SELECT generate_series(min(placed_at), max(placed_at), '1 day 2 hours') "
        "FROM orders",
        "no_unit": "SELECT generate_series(min(placed_at), max(placed_at), '1') FROM orders",
        "odd_sign": "SELECT generate_series(min(placed_at), max(placed_at), '~5 days') FROM orders",
        "odd_digit": "SELECT generate_series(min(placed_at), max(placed_at), '² days') FROM orders",
        "many_digits": f"SELECT generate_series(min(placed_at), max(placed_at), '{'9' * 5000} "
        "days') FROM orders",
        "unknown_unit": "SELECT generate_series(min(placed_at), max(placed_at), '1 fortnight') "
        "FROM orders",
    },
    "too_much_text": {
        "repeat": "SELECT repeat('x', 10001)",
        "pad": "SELECT rpad('x', 10001)",
        "factorial": "SELECT factorial(1001)",
        "factorial_of_a_column": "SELECT factorial(id) FROM orders",
        "filled": "SELECT array_fill(0, ARRAY[100, 101])",
        "filled_by_a_column": "SELECT array_fill(0, ARRAY[5, id]) FROM orders",
        "filled_by_nothing": "SELECT array_fill(0, ARRAY[]::int[])",
        "named_argument": "SELECT replace(name, 'x', new => 'y') FROM customers",
        "rows_from_an_unknown_number": "SELECT string_agg(repeat('x', 10000), '') "
        "FROM generate_series(now(), 5, '1 day')",
        "rows_of_an_unknown_number": "SELECT string_agg(repeat('x', 10000), '') "
        "FROM generate_series(5, now(), '1 day')",
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
        "counted_in_another_place": "WITH RECURSIVE n AS (SELECT 1 AS i, 1 AS j UNION ALL "
        "SELECT i, i + 1 FROM n WHERE i < 5) SELECT i FROM n",
        "counted_under_another_name": "WITH RECURSIVE n (i, j) AS (SELECT 1, 1 UNION ALL "
        "SELECT j, i + 1 AS i FROM n WHERE i < 5) SELECT i FROM n",
        "counted_in_two_columns_of_a_name": 'WITH RECURSIVE n (i, "I") AS (SELECT 1, 1 UNION ALL '
        'SELECT "I", i + 1 FROM n WHERE i < 5) SELECT i FROM n',
        "counted_beside_a_star": "WITH RECURSIVE n AS (SELECT 1 AS i, 1 AS j UNION ALL "
        "SELECT i + 1, n.* FROM n WHERE i < 5) SELECT i FROM n",
        "column_around_it": "SELECT (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT o.i + 1 "
        "FROM n WHERE o.i < 5) SELECT max(i) FROM n) FROM (SELECT 1 AS i) AS o",
        "bound_on_a_column_around_it": "SELECT (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL "
        "SELECT n.i + 1 FROM n WHERE o.i < 5) SELECT max(i) FROM n) FROM (SELECT 1 AS i) AS o",
        "value_after_one_around_it": "SELECT (WITH RECURSIVE r AS (SELECT 1 AS k UNION ALL "
        "SELECT (SELECT min(a.id) FROM orders a WHERE a.id > o.k) FROM r WHERE r.k IS NOT NULL) "
        "SELECT max(k) FROM r) FROM (SELECT 1 AS k) AS o",
        "bound_that_moves_along": count("i + 1", "i < (SELECT i + 1)"),
        "bound_on_a_distance": "WITH RECURSIVE n AS (SELECT 1 AS i, 1 AS j UNION ALL "
        "SELECT i + 1, j + 1 FROM n WHERE i - j < 5) SELECT i FROM n",
        "itself_twice": "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT a.i + 1 FROM n AS a, "
        "n AS b WHERE a.i < 5) SELECT i FROM n",
        "without_rows_of_itself": "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL "
        "SELECT (SELECT max(i) FROM n) + 1 WHERE 1 < 5) SELECT i FROM n",
        "not_equal": count("i + 1", "i <> 5"),
        "either_of_two_bounds": count("i + 1", "i < 5 OR i > 7"),
        "bound_too_far": count("i + 1", "i < 100001"),
        "bound_too_far_down": count("i - 1", "i > -100001"),
        "step_of_two_parts": "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL (SELECT i + 1 FROM n "
        "WHERE i < 5 UNION ALL SELECT i FROM n)) SELECT i FROM n",
        "two_steps": "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i FROM n UNION ALL "
        "SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n",
        "bound_below": count("i + 1", "i > 5"),
        "bound_above": count("i - 1", "5 > i"),
        "bound_by_itself": count("i + 1", "i < i + 1"),
        "hours": DATES.format(step="d + INTERVAL '1 hour'", bound="d < DATE '2024-02-01'"),
        "column_plus_a_column": count("i + i", "i < 5"),
        "key_that_is_a_constant": TREE.format(join=", t WHERE e.manager_id = 1"),
        "constant_that_is_a_key": TREE.format(join=", t WHERE 1 = e.manager_id"),
        "call_that_is_a_key": TREE.format(join=", t WHERE abs(t.id) = e.manager_id"),
        "key_within_one_source": TREE.format(join=", t WHERE e.manager_id = e.id"),
        "same_value": SEARCH.format(step="SELECT min(a.id) FROM orders a WHERE a.id >= r.k"),
        "any_value": SEARCH.format(step="SELECT min(a.id) FROM orders a"),
        "some_value": SEARCH.format(step="SELECT a.id FROM orders a WHERE a.id > r.k LIMIT 1"),
        "value_after_a_constant": SEARCH.format(
            step="SELECT min(a.id) FROM orders a WHERE a.id > 5"
        ),
        "sum_of_values_before": SEARCH.format(
            step="SELECT sum(a.id) FROM orders a WHERE a.id < r.k"
        ),
        "two_values": SEARCH.format(step="SELECT min(a.id), 2 FROM orders a WHERE a.id > r.k"),
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


# SQLite counts dates by a function, and its ``min`` of several is no aggregate.
DAYS = (
    "WITH RECURSIVE n AS (SELECT '2024-01-01' AS d UNION ALL SELECT {step} FROM n WHERE {bound}) "
    "SELECT d FROM n"
)
ON_SQLITE = {
    DAYS.format(step="date(d, '+1 day')", bound="d < '2024-12-31'"): "",
    DAYS.format(step="date(D, '1 month')", bound="d <= '2024-12-31'"): "",
    DAYS.format(step="date(d, '-1 day')", bound="d > '2023-12-31'"): "",
    DAYS.format(step="date(d, '-1 day')", bound="d < '2024-12-31'"): "endless_recursion",
    DAYS.format(step="date(d, '+1 hour')", bound="d < '2024-12-31'"): "endless_recursion",
    DAYS.format(step="date(d)", bound="d < '2024-12-31'"): "endless_recursion",
    DAYS.format(step="date('2024-01-01', '1 day')", bound="d < '2024-12-31'"): "endless_recursion",
    DAYS.format(step="date(d, '+1 day', '-1 day')", bound="d < '2024-12-31'"): "endless_recursion",
    DAYS.format(step="time(d, '+1 day')", bound="d < '2024-12-31'"): "endless_recursion",
    SEARCH.format(step="SELECT min(a.id) FROM orders a WHERE a.id > r.k"): "",
    SEARCH.format(
        step="SELECT min(a.id, 5) FROM orders a WHERE a.id > r.k LIMIT 1"
    ): "endless_recursion",
}


@pytest.mark.parametrize(("sql", "code"), ON_SQLITE.items())
def test_recursion_on_sqlite(sql: str, code: str) -> None:
    assert judge(sql, "sqlite") == code
