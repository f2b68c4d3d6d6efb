"""Where exactly a text or an expression becomes too large, construct by construct."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlglot import exp

from execution.guard import growth
from execution.guard.guard import guard_query
from execution.name_resolution.stars import find_star
from execution.policies.access import open_access
from nl2sql.types import Violation
from tests.execution.guard.test_cost_bombs import nest
from tests.fakes import SHOP


def judge(sql: str, dialect: str = "postgres") -> str:
    """The violation's code; empty for a query that passes."""
    verdict = guard_query(sql, open_access(replace(SHOP, dialect=dialect)))
    return verdict.code if isinstance(verdict, Violation) else ""


# The output of each level over the one below → so many levels pass, one more does not.
LEVELS = {
    "t || t || t || t": 5,
    "t || t": 11,
    "concat(t, t)": 8,
    "concat_ws(',', t, t)": 1,
    "coalesce(t, t)": 11,
    "greatest(t, t)": 11,
    "least(t, t)": 11,
    "CASE WHEN t = 'a' THEN t ELSE t END": 7,
    "ARRAY[t]::text": 17,
    "ARRAY[t, t]::text": 8,
    "ARRAY[t]::varchar[]::text": 8,
    "(t, 1)::text": 8,
    "format('%s', ARRAY[t])": 17,
    "json_agg(t::text)": 18,
    "ROW(t, t)::text": 5,
    "to_json(t)::text": 8,
    "to_jsonb(t)": 17,
    "overlay(t PLACING t FROM 1 FOR 0)": 8,
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
        "reverse(t)",
        "initcap(t)",
        "date_trunc('day', t::timestamp)",
        "extract(year FROM t::timestamp)::text",
    ],
)
def test_what_gives_back_its_argument_may_be_nested(output: str) -> None:
    assert judge(nest(40, output, "AS MATERIALIZED")) == ""


def repeat(sign: str, times: int) -> str:
    return f"'{sign * times}'"


# A query with a number ``{n}`` in it, or what writes it → the largest number that passes.
SIZES: dict[str, tuple[str | Callable[[int], str], int]] = {
    "gathered_text": (
        "SELECT string_agg(repeat('x', 10000), '') FROM generate_series(1, {n})",
        200,
    ),
    "gathered_from_0": (
        "SELECT string_agg(repeat('x', 10000), '') FROM generate_series(0, {n})",
        199,
    ),
    "gathered_backwards": (
        "SELECT string_agg(repeat('x', 10000), '') FROM generate_series({n}, 1, -1)",
        200,
    ),
    "replacement_by_nothing": (
        "SELECT repeat(regexp_replace(repeat(name, 100), 'x', ''), {n}) FROM customers",
        1000,
    ),
    "short_values": ("SELECT repeat(repeat(t, 1000), {n}) FROM (VALUES ('a')) AS v (t)", 100),
    "gathered_by_steps": (
        "SELECT string_agg(repeat('x', 10000), '') FROM generate_series(2, {n}, 2)",
        400,
    ),
    "gathered_json": ("SELECT json_agg(repeat('x', 10000)) FROM generate_series(1, {n})", 200),
    "gathered_from_below": (
        "SELECT array_agg(repeat('x', 10000)) FROM (SELECT 1 FROM generate_series(1, {n})) AS d",
        200,
    ),
    "gathered_past_a_limit": (
        "SELECT string_agg(d.x, '') FROM (SELECT repeat('x', 10000) AS x "
        "FROM generate_series(1, {n}) LIMIT 5) AS d",
        200,
    ),
    "gathered_over_a_set_operation": (
        "SELECT string_agg(t, '') FROM (SELECT repeat('x', 10000) AS t UNION ALL "
        "SELECT 'y' FROM generate_series(1, {n})) AS d",
        199,
    ),
    "gathered_over_a_list": (
        lambda n: (
            "SELECT array_agg(repeat('x', 10000)) FROM "
            f"unnest(ARRAY[{', '.join(['1'] * n)}]) AS u(x)"
        ),
        200,
    ),
    "gathered_over_a_list_in_a_case": (
        lambda n: (
            "SELECT array_agg(repeat('x', 10000)) FROM "
            f"unnest(CASE WHEN true THEN ARRAY[{', '.join(['1'] * n)}] END) AS u(x)"
        ),
        200,
    ),
    "gathered_outputs_that_make_rows": (
        "SELECT array_agg(x) FROM (SELECT repeat('x', 10000) AS x, generate_series(1, {n})) AS d",
        200,
    ),
    "gathered_over_a_named_join": (
        "SELECT array_agg(repeat('x', 10000)) FROM (generate_series(1, 10) AS a "
        "CROSS JOIN generate_series(1, {n}) AS b) AS j",
        20,
    ),
    "truth": (
        "SELECT string_agg(repeat((g > 1)::text, 10000), '') FROM generate_series(1, {n}) AS g",
        50,
    ),
    "columns_of_a_table": ("SELECT array_agg(repeat(name, {n})) FROM customers", 100),
    "columns_of_two_tables": (
        "SELECT array_agg(repeat(a.name, {n})) FROM customers a, customers b",
        10,
    ),
    "row": ("SELECT repeat(o::text, {n}) FROM orders o", 8333),
    "row_of_a_query": (
        "SELECT repeat(d::text, {n}) FROM (SELECT name, 'x' AS y FROM customers) AS d",
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
        "SELECT repeat(replace('xxxxx', 'x', name), {n}) FROM customers",
        1000,
    ),
    "separator": (
        lambda n: (
            f"SELECT array_to_string(ARRAY[repeat(name, 10)], {repeat('y', n)}) FROM customers"
        ),
        2700,
    ),
    "array_of_a_query": (
        "SELECT ARRAY(SELECT repeat('x', 10000) FROM generate_series(1, {n}))",
        200,
    ),
    "either_part_of_a_union": (
        "SELECT repeat(x, {n}) FROM (SELECT name AS x FROM customers UNION "
        "SELECT repeat(name, 100) FROM customers) AS d",
        1000,
    ),
    "output_among_others": (
        "SELECT repeat(d.x, {n}) FROM (SELECT repeat(name, 100) AS x, id FROM customers) AS d",
        1000,
    ),
    "output_under_a_new_name": (
        "SELECT repeat(d.y, {n}) FROM (SELECT repeat(name, 100) AS x FROM customers) AS d(y)",
        1000,
    ),
    "output_of_a_star": (
        "SELECT repeat(e.x, {n}) FROM (SELECT * FROM (SELECT repeat(name, 100) AS x "
        "FROM customers) AS d) AS e",
        1000,
    ),
    "row_of_a_named_join": (
        "SELECT repeat(j::text, {n}) FROM (orders CROSS JOIN customers) AS j",
        5000,
    ),
    "padded": (
        # So few names that a glance would not do.
        lambda n: (
            f"WITH a AS (SELECT lpad('x', {n}) || lpad('x', {n}) AS t), "
            f"b AS (SELECT {' || '.join(['t'] * 9)} AS t FROM a), "
            f"c AS (SELECT {' || '.join(['t'] * 9)} AS t FROM b) "
            f"SELECT {' || '.join(['t'] * 9)} FROM c"
        ),
        1714,
    ),
    "nested_calls": (lambda n: f"SELECT {'to_json(' * n}name{')' * n} FROM customers", 16),
    "nested_rows": (lambda n: f"SELECT {'(' * n}'ten signs!'{', 1)' * n}", 19),
    "repeated_once": ("SELECT repeat(repeat(repeat(name, 1), 100), {n}) FROM customers", 1000),
    "replacement_of_a_column": (
        lambda n: f"SELECT repeat(replace(name, country, {repeat('x', n)}), 1000) FROM customers",
        100,
    ),
    "small_column_beside_a_large_one": (
        "SELECT repeat(d.id::text, {n}) FROM (SELECT repeat(name, 10000) AS x, id "
        "FROM customers) AS d",
        10_000,
    ),
    "large_column_after_a_small_one": (
        "SELECT d.y, repeat(d.x, {n}) FROM (SELECT 'a' AS y, repeat(name, 100) AS x "
        "FROM customers) AS d",
        1000,
    ),
    "column_of_a_named_join": (
        "SELECT repeat(j.x, {n}) FROM (orders CROSS JOIN "
        "(SELECT repeat(name, 100) AS x FROM customers) AS d) AS j",
        1000,
    ),
    "output_that_is_named_in_order_by": (
        "SELECT repeat(repeat(name, 100), {n}) AS x FROM customers ORDER BY x",
        1000,
    ),
    "star_in_the_second_part_of_a_union": (
        "SELECT repeat(d.x, {n}) FROM (SELECT name AS x FROM customers UNION ALL "
        "SELECT * FROM (SELECT repeat(name, 100) AS y FROM customers) AS e) AS d",
        1000,
    ),
    "small_column_of_a_recursion": (
        "WITH RECURSIVE n (I, T) AS (SELECT 1, repeat('x', 10000) UNION ALL "
        "SELECT I + 1, T FROM n WHERE I < 5) SELECT repeat(i::text, {n}) FROM n",
        10_000,
    ),
    "large_column_of_a_recursion": (
        "WITH RECURSIVE n (i) AS (SELECT 1, repeat('x', 1000) AS t UNION ALL "
        "SELECT i + 1, t FROM n WHERE i < 5) SELECT repeat(t, {n}) FROM n",
        2500,
    ),
    "small_column_of_two_bases": (
        "WITH RECURSIVE n AS ((SELECT 1 AS i, 'x' AS t UNION ALL SELECT 2, "
        "repeat('x', 10000)) UNION ALL SELECT i + 1, t FROM n WHERE i < 5) "
        "SELECT repeat(i::text, {n}) FROM n",
        10_000,
    ),
    "large_second_base_of_a_recursion": (
        "WITH RECURSIVE n AS ((SELECT 1 AS i, 'x' AS t UNION ALL SELECT 2, "
        "repeat('x', 10000)) UNION ALL SELECT i + 1, t FROM n WHERE i < 5) "
        "SELECT repeat(t, {n}) FROM n",
        200,
    ),
    "output_with_several_calls": (
        "SELECT array_agg(d.x) FROM (SELECT repeat('x', 10000) AS x, "
        "abs(generate_series(1, {n}))) AS d",
        200,
    ),
    "gathered_twice": (
        "SELECT array_agg(repeat('x', 2000)), array_agg(repeat('x', 10000)) "
        "FROM generate_series(1, {n})",
        200,
    ),
    "gathered_over_nothing_taken_apart": (
        "SELECT array_agg(repeat('x', 10000)) FROM string_to_table('', '') AS s, "
        "generate_series(1, {n}) AS g",
        200,
    ),
    "gathered_over_values": (
        lambda n: (
            f"SELECT array_agg(repeat('x', 10000)) FROM (VALUES {', '.join(['(1)'] * n)}) AS v (x)"
        ),
        200,
    ),
    "values": ("SELECT repeat(t, {n}) FROM (VALUES ('a'), (repeat('x', 10000))) AS v (t)", 200),
    "values_in_a_cte": (
        "WITH v (t) AS (VALUES (repeat('x', 10000))) SELECT repeat(t, {n}) FROM v",
        200,
    ),
    "values_that_nobody_reads": (
        # A row counts twice.
        "SELECT 1 FROM (VALUES (repeat(repeat('x', 1000), {n}))) AS v (t)",
        1250,
    ),
    "function_in_from_that_nobody_reads": (
        # Two functions of which it is not known how much they make.
        "SELECT 1 FROM unnest(string_to_array(repeat(repeat('x', 1000), {n}), ',')) AS u (t)",
        624,
    ),
    "piece_of_a_text": (
        "SELECT repeat(t, {n}) FROM string_to_table(repeat('x', 10000), ',') AS s (t)",
        200,
    ),
    "row_with_a_list": (
        "SELECT repeat(d::text, {n}) FROM (SELECT ARRAY[repeat(name, 10)] AS a "
        "FROM customers) AS d",
        2500,
    ),
    "nodes_of_subqueries": (
        lambda n: (
            f"WITH a AS (SELECT length(concat({', '.join(['name'] * n)})) AS t FROM customers), "
            f"b AS (SELECT {' + '.join(['(SELECT t FROM a)'] * 8)} AS t) "
            f"SELECT {' + '.join(['(SELECT t FROM b)'] * 8)}"
        ),
        308,
    ),
    "made_by_a_function_in_from": (
        "SELECT length(repeat(t, {n})) FROM repeat('x', 10000) AS u (t)",
        200,
    ),
    "power_of_one": (lambda n: f"SELECT repeat(('{'9' * 9000}'::numeric ^ 1)::text, {n})", 1111),
    "power": ("SELECT 7::numeric ^ {n}", 5000),
    "array_of_a_query_of_one_row": ("SELECT ARRAY(SELECT repeat(repeat('x', 10000), {n}))", 200),
    "gathered_over_a_list_of_one": (
        "SELECT array_agg(repeat(repeat('x', 10000), {n})) FROM unnest(ARRAY[1]) AS u",
        200,
    ),
    "nodes_of_what_a_function_gives": (
        lambda n: (
            f"WITH a AS (SELECT length(concat({', '.join(['u'] * n)})) AS t "
            "FROM string_to_table('a', ',') AS s (u)), "
            f"b AS (SELECT {' + '.join(['(SELECT t FROM a)'] * 8)} AS t) "
            f"SELECT {' + '.join(['(SELECT t FROM b)'] * 8)}"
        ),
        308,
    ),
    "nodes_of_what_a_recursion_gives": (
        lambda n: (
            "WITH RECURSIVE n AS (SELECT 1 AS u UNION ALL SELECT u + 1 FROM n WHERE u < 9), "
            f"a AS (SELECT length(concat({', '.join(['u'] * n)})) AS t FROM n), "
            f"b AS (SELECT {' + '.join(['(SELECT t FROM a)'] * 8)} AS t) "
            f"SELECT {' + '.join(['(SELECT t FROM b)'] * 8)}"
        ),
        308,
    ),
    "nodes_of_queries_without_outputs": (
        lambda n: (
            f"WITH a AS (SELECT length(concat({', '.join(['EXISTS (SELECT FROM orders)'] * n)})) "
            f"AS t), b AS (SELECT {' + '.join(['(SELECT t FROM a)'] * 12)} AS t) "
            f"SELECT {' + '.join(['(SELECT t FROM b)'] * 12)}"
        ),
        44,
    ),
    "long_text_in_an_array": (
        "SELECT repeat((ARRAY[(SELECT 'x'), (SELECT repeat('x', 10000) "
        "FROM generate_series(1, 1000))])[2], {n})",
        99,
    ),
    "output_of_a_subquery": ("SELECT repeat((SELECT repeat(name, 100) FROM customers), {n})", 1000),
}


@pytest.mark.parametrize(("build", "most"), SIZES.values(), ids=SIZES)
def test_sizes_until_it_is_too_much(build: str | Callable[[int], str], most: int) -> None:
    for number, code in ((most, ""), (most + 1, "too_much_text")):
        sql = build.replace("{n}", str(number)) if isinstance(build, str) else build(number)
        assert judge(sql) == code


_NUMBERS = ", ".join(["(7::numeric ^ {0}) / (3::numeric ^ {0})"] * 40)
_SEARCH = f"strpos(repeat(repeat('xxxxx', 10000), 20), {repeat('y', 100)})"
_BEFORE_A_DOT = (
    "SELECT length({0}) FROM (SELECT (t || '').trim() AS t FROM "
    "(SELECT repeat('x', 9999) AS t) AS y) AS x"
)

# Title → dialect, query, what makes it small enough, what makes it too large.
BOUNDS: dict[str, tuple[str, str, object, object]] = {
    "list_that_becomes_text_at_each_step": (
        "postgres",
        "WITH RECURSIVE n AS (SELECT 1 AS i, ARRAY['x y'] AS t UNION ALL "
        "SELECT i + 1, ARRAY[{0}] FROM n WHERE i < 30) SELECT t::text FROM n",
        "'x'",
        "t::text",
    ),
    # The names do not tell which column of the second part is replaced.
    "replacement_within_a_star": (
        "duckdb",
        "SELECT repeat(d.x, {0}) FROM (SELECT name AS x FROM customers UNION ALL "
        "SELECT * REPLACE (repeat(a, 100) AS a) FROM (SELECT name AS a FROM customers) AS e) AS d",
        1000,
        1001,
    ),
    "columns_of_a_union_by_name": (
        "duckdb",
        "SELECT repeat(b, {0}) FROM (SELECT 'a' AS a, 'b' AS b UNION ALL BY NAME "
        "SELECT repeat('x', 10000) AS b, 'y' AS a) AS d",
        200,
        201,
    ),
    "column_that_a_star_leaves_out": (
        "duckdb",
        "SELECT * EXCLUDE (name), repeat(repeat('x', 10000), {0}) FROM customers",
        200,
        201,
    ),
    "text_before_a_dot": (
        "duckdb",
        _BEFORE_A_DOT,
        "replace(t, 'x', 'y')",
        "replace(replace(t, 'x', t), 'x', t)",
    ),
    "drawn_bars": ("duckdb", "SELECT list(bar(1, 0, 1, 1000)) FROM range({0})", 3000, 4000),
    "order_of_a_query_in_parentheses": (
        "duckdb",
        "(SELECT repeat('x', 10000) AS t) ORDER BY repeat(t, {0})",
        10,
        10_000,
    ),
    "small_search_beside_a_long_one": (
        "postgres",
        f"SELECT {_SEARCH}{{0}}",
        "",
        ", strpos('x', 'y')",
    ),
    "numbers_that_are_long_while_the_query_is_planned": (
        "postgres",
        f"SELECT {_NUMBERS}",
        150,
        150_000,
    ),
}


@pytest.mark.parametrize(("dialect", "sql", "small", "large"), BOUNDS.values(), ids=BOUNDS)
def test_small_passes_and_large_does_not(
    dialect: str, sql: str, small: object, large: object
) -> None:
    assert judge(sql.format(small), dialect) == ""
    assert judge(sql.format(large), dialect) == "too_much_text"


@pytest.mark.parametrize(
    "clause", ["GROUP BY t", "LIMIT 5", "OFFSET 1", "DISTINCT", "UNION ALL SELECT 'x'"]
)
def test_a_query_that_stays_apart_counts_as_one_node(clause: str) -> None:
    levels = ["a0 AS (SELECT name AS t FROM customers)"]
    for level in range(1, 15):
        output = "DISTINCT t || t" if clause == "DISTINCT" else "t || t"
        end = "" if clause == "DISTINCT" else clause
        levels.append(f"a{level} AS (SELECT {output} AS t FROM a{level - 1} {end})")
    assert judge(f"WITH {', '.join(levels)} SELECT t FROM a14") == ""
    plain = ", ".join(levels).replace(clause, "")
    assert judge(f"WITH {plain} SELECT t FROM a14") == "too_much_text"


# What makes a list of a text, and on the next level a text of that → so many pairs of levels pass.
LISTS = {
    ("postgres", "ARRAY[t]", "t::text"): 18,
    ("postgres", "array_agg(t)", "t::text"): 18,
    ("postgres", "(array_agg(t))[1:2]", "t::text"): 18,
    ("postgres", "array_agg(t)", "t || ''"): 18,
    ("postgres", "ARRAY[t]", "format('%s', t)"): 18,
    ("postgres", "(t, 1)", "t::text"): 18,
    ("postgres", "json_agg(t)", "t::text"): 18,
    ("duckdb", "[t]", "t::text"): 18,
    ("duckdb", "list(t)", "(CASE WHEN true THEN t END)::text"): 18,
    ("sqlite", "json_group_array(t)", "json_group_array(t)"): 9,
    ("sqlite", "json_group_array(t)", "json_group_array(max(t))"): 9,
    ("sqlite", "json_group_array(t)", "json_group_array(group_concat(t))"): 9,
    ("duckdb", "list_sort(list(t))", "t::text"): 18,
    ("postgres", "NULL AS t UNION ALL SELECT ARRAY[t]", "t::text"): 18,
}


@pytest.mark.parametrize(("case", "most"), LISTS.items(), ids=map(str, LISTS))
def test_a_list_has_its_quotes_doubled_when_it_becomes_text(
    case: tuple[str, str, str], most: int
) -> None:
    dialect, first, second = case

    def write(pairs: int) -> str:
        ctes = ["a0 AS (SELECT 'twenty letters of text' AS t)"]
        for at in range(1, pairs + 1):
            ctes.append(f"b{at} AS MATERIALIZED (SELECT {first} AS t FROM a{at - 1})")
            ctes.append(f"a{at} AS MATERIALIZED (SELECT {second} AS t FROM b{at})")
        return f"WITH {', '.join(ctes)} SELECT length(t) FROM a{pairs}"

    assert judge(write(most), dialect) == ""
    assert judge(write(most + 1), dialect) == "too_much_text"


def test_joined_texts_are_no_list() -> None:
    ctes = ["a0 AS (SELECT name AS t FROM customers)"]
    for at in range(1, 30):
        ctes.append(f"a{at} AS MATERIALIZED (SELECT string_agg(t::text, '') AS t FROM a{at - 1})")
    assert judge(f"WITH {', '.join(ctes)} SELECT t FROM a29") == ""


# The first part, the columns' names and the step of a recursion in which a text doubles.
DOUBLING = {
    "some_names": ("SELECT 1, 'x' AS t", "(i)", "SELECT i + 1, t || t"),
    "all_names": ("SELECT 1, 'x'", "(i, t)", "SELECT i + 1, t || t"),
    "star": ("SELECT * FROM (SELECT 1, 'x') AS b", "(i, t)", "SELECT i + 1, t || t"),
    "values": ("VALUES (1, 'x')", "(i, t)", "SELECT i + 1, t || t"),
    "two_of_one_name": (
        "SELECT 0 AS j, 0 AS j, 1 AS i, 'x' AS t",
        "",
        "SELECT 0, 0, i + 1, t || t",
    ),
    "second_part_of_the_first": (
        "(SELECT 1 AS i, NULL AS t UNION ALL SELECT 1, 'x')",
        "",
        "SELECT i + 1, t || t",
    ),
    "without_a_name": ("SELECT 1 AS i, 'x' AS t, 0", "", "SELECT i + 1, t || t, 0"),
    "along_a_key": (
        "SELECT 1 AS i, 'x' AS t",
        "",
        "SELECT e.id, n.t || n.t FROM employees AS e JOIN n ON e.manager_id = n.i",
    ),
    "in_a_named_join": (
        "SELECT 1 AS i, 'x' AS t",
        "",
        "SELECT j.id, j.t || j.t FROM employees AS e JOIN (n CROSS JOIN customers) AS j "
        "ON e.manager_id = j.i",
    ),
    "in_a_subquery": (
        "SELECT 1 AS i, 'x' AS t",
        "",
        "SELECT e.id, m.t || m.t FROM employees AS e JOIN (SELECT i, t FROM n) AS m "
        "ON e.manager_id = m.i",
    ),
    "star_in_the_step": (
        "SELECT 1, 'x'",
        "(i, t)",
        "SELECT m.* FROM employees AS e JOIN (SELECT i, t || t FROM n) AS m (a, b) ON e.id = m.a",
    ),
    "stars": (
        "SELECT b.* FROM (SELECT 1, 'x') AS b",
        "(i, t)",
        "SELECT m.* FROM employees AS e JOIN (SELECT i, t || t FROM n) AS m (a, b) ON e.id = m.a",
    ),
    "list": ("SELECT 1 AS i, 'x' AS t", "", "SELECT i + 1, json_build_array(t)::text"),
    # What is read beside the recursion rests on no step of it.
    "beside_another_query": (
        "SELECT 1 AS i, 'x' AS t",
        "",
        "SELECT e.id, m.t || m.t FROM employees AS e JOIN (SELECT i, n.t || c.x AS t FROM n "
        "CROSS JOIN (SELECT 'y' AS x) AS c) AS m ON e.manager_id = m.i",
    ),
}


@pytest.mark.parametrize(("first", "names", "step"), DOUBLING.values(), ids=DOUBLING)
def test_a_text_that_doubles_at_each_step(first: str, names: str, step: str) -> None:
    end = "" if " FROM " in step else " FROM n WHERE i < 30"
    sql = f"WITH RECURSIVE n {names} AS ({first} UNION ALL {step}{end}) SELECT t FROM n"
    assert judge(sql) == "too_much_text"
    for doubled in (" || t", " || n.t", " || m.t", " || j.t"):
        sql = sql.replace(doubled, "")
    assert judge(sql.replace("json_build_array(t)::text", "t")) == ""


@pytest.mark.parametrize("value", ["now() || ''", "concat(now())", "pi()::text"])
def test_what_a_function_makes_of_nothing_grows(value: str) -> None:
    def write(levels: int) -> str:
        ctes = [f"a0 AS (SELECT {value} AS t)"]
        ctes += [
            f"a{at} AS (SELECT t || t || t || t AS t FROM a{at - 1} LIMIT 1)"
            for at in range(1, levels)
        ]
        return f"WITH {', '.join(ctes)} SELECT length(t) FROM a{levels - 1}"

    assert judge(write(8)) == ""
    assert judge(write(14)) == "too_much_text"


# A level whose output ``a`` comes of a star; DuckDB and SQLite take the first of two that are so
# called.
STARS = {
    "replaced": "SELECT * REPLACE (a || a || a || a AS a) FROM {below}",
    "replaced_in_a_tables_star": "SELECT {below}.* REPLACE (a || a || a || a AS a) FROM {below}",
    "beside_an_output_of_the_name": (
        "SELECT s.*, 1 AS a FROM (SELECT a || a || a || a AS a FROM {below}) AS s"
    ),
}


@pytest.mark.parametrize("level", STARS.values(), ids=STARS)
def test_what_a_star_gives_grows(level: str) -> None:
    assert judge(_stack(level, 4), "duckdb") == ""
    assert judge(_stack(level, 14), "duckdb") == "too_much_text"


# Where a text of so many bytes may be made beside the clauses of a SELECT. What it is made of is
# ten thousand letters, whatever stands around them.
PLACES = {
    "order_of_a_set_operation": "SELECT 1 UNION SELECT 2 ORDER BY {}",
    "limit_of_a_set_operation": "SELECT 1 UNION SELECT 2 LIMIT length({})",
    "offset_of_a_set_operation": "SELECT 1 UNION SELECT 2 OFFSET length({})",
    "order_behind_parentheses": "(SELECT 1) ORDER BY {}",
    "values": "VALUES ({})",
    "second_row_of_values": "VALUES ('a'), ({})",
    "values_as_a_value": "SELECT (VALUES (length({})))",
    "values_in_from": "SELECT 1 FROM (VALUES (length({}))) AS v",
    "values_of_a_cte": "WITH v AS (VALUES (length({}))) SELECT 1 FROM v",
    "array_in_from": "SELECT 1 FROM unnest(ARRAY[{}]) AS u",
    "function_in_from": "SELECT 1 FROM regexp_split_to_table({}, ',') AS u",
    "lateral_function": "SELECT 1 FROM orders, LATERAL regexp_split_to_table({}, ',') AS u",
    "join_in_parentheses": "SELECT 1 FROM (orders JOIN customers ON length({}) > 1)",
    "join_under_a_name": "SELECT 1 FROM (orders JOIN customers ON length({}) > 1) AS j",
}

# Sources with a column ``t`` of ten thousand letters.
LETTERS = {
    "repeated": "repeat({}, 1) AS u(t)",
    "repeated_for_each_row": "orders, LATERAL repeat({}, 1) AS u(t)",
    "values": "(VALUES ({})) AS v(t)",
    "second_column_of_values": "(VALUES (1, {})) AS v(n, t)",
    "values_in_parentheses": "(SELECT * FROM (VALUES ({})) AS v) AS w(t)",
    "array": "unnest(ARRAY[{}]) AS u(t)",
    "array_with_numbers": "unnest(ARRAY[{}]) WITH ORDINALITY AS u(t, n)",
    "function": "regexp_split_to_table({}, ',') AS u(t)",
    "lateral": "orders, LATERAL regexp_split_to_table({}, ',') AS u(t)",
    "lateral_query": "orders, LATERAL (SELECT {} AS t) AS u",
    "lateral_values": "orders, LATERAL (VALUES ({})) AS u(t)",
    "function_of_a_function": "unnest(ARRAY[{}]) AS a(b), LATERAL unnest(ARRAY[b]) AS c(t)",
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_text_is_measured_wherever_it_is_made(place: str) -> None:
    for times, code in ((10, ""), (10_000, "too_much_text")):
        assert judge(place.format(f"repeat(repeat('x', 10000), {times})")) == code


@pytest.mark.parametrize("source", LETTERS.values(), ids=LETTERS)
def test_a_column_is_as_long_as_what_makes_it(source: str) -> None:
    for times, code in ((10, ""), (10_000, "too_much_text")):
        sql = f"SELECT length(repeat(t, {times})) FROM {source}"
        assert judge(sql.format("repeat('x', 10000)")) == code
    # In the function's call itself it is as long as it is.
    assert judge(f"SELECT length(repeat(t, 10000)) FROM {source}".format("'x'")) == ""


def _stack(level: str, levels: int) -> str:
    ctes = ["c0 AS (SELECT 'twenty letters of text' AS a)"]
    ctes += [f"c{at} AS ({level.format(below=f'c{at - 1}')})" for at in range(1, levels)]
    return f"WITH {', '.join(ctes)} SELECT length(a) FROM c{levels - 1}"


@pytest.mark.parametrize(
    "sql",
    [
        "VALUES ({})",
        "SELECT 1 UNION ALL SELECT 2 LIMIT length({})",
        "(SELECT 1) LIMIT length({})",
        "SELECT 1 LIMIT 1 OFFSET length({})",
        "SELECT 1 FROM (VALUES ({})) AS v (t)",
        "SELECT 1 FROM string_to_table({}, ',') AS t (t)",
        "SELECT 1 FROM customers CROSS JOIN LATERAL string_to_table({}, ',') AS t (t)",
        "SELECT 1 WHERE 'x' IN (VALUES ({}))",
        "SELECT 1 WHERE length({}) > 5",
    ],
)
def test_a_text_is_measured_wherever_it_stands(sql: str) -> None:
    assert judge(sql.format("repeat(repeat('x', 10), 10)")) == ""
    assert judge(sql.format("repeat(repeat('x', 10000), 10000)")) == "too_much_text"


def test_functions_that_take_apart_one_another_are_measured_once() -> None:
    sql = "SELECT 1 FROM string_to_table('a', '') AS t0 (u0)"
    for at in range(1, 15):
        before = f"u{at - 1}"
        sql += f", string_to_table({' || '.join([before] * 4)}, '') AS t{at} (u{at})"
    assert judge(sql) == "too_much_text"


def test_a_query_with_more_names_than_columns_is_refused() -> None:
    sql = (
        "WITH RECURSIVE n (i, t, u) AS (SELECT 1, 'x' UNION ALL SELECT i + 1, t FROM n "
        "WHERE i < 5) SELECT repeat(t, 500) FROM n"
    )
    assert judge(sql)


def test_what_only_the_database_refuses_does_no_harm() -> None:
    widths = (
        "WITH RECURSIVE n (i) AS ((SELECT 1, 'x' UNION ALL SELECT 1) UNION ALL "
        "SELECT i + 1 FROM n WHERE i < 5) SELECT repeat(i::text, 5) FROM n"
    )
    assert judge(widths) == ""
    widths = (
        "WITH RECURSIVE n (i, t) AS (SELECT 1, 'x' UNION ALL SELECT i + 1 FROM n WHERE i < 5) "
        "SELECT repeat(t, 5) FROM n"
    )
    assert judge(widths) == ""
    assert judge("SELECT repeat('x', 5), ARRAY[1 + (SELECT count(*) FROM orders)]") == ""


def chain(recursions: int, below: str, count: str) -> str:
    """Recursive queries, each of which reads ``below`` of the one before it in its step."""
    ctes = ["r0 (i, t) AS (SELECT 1, 'x' UNION ALL SELECT i + 1, t FROM r0 WHERE i < 5)"]
    for at in range(1, recursions):
        value = below.format(f"r{at - 1}")
        step = f"SELECT i + 1, substr({value}, 1, 3) FROM r{at} WHERE i < 5"
        ctes.append(f"r{at} (i, t) AS (SELECT 1, 'x' UNION ALL {step})")
    return f"WITH RECURSIVE {', '.join(ctes)} SELECT {count} FROM r{recursions - 1}"


@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb"])
def test_a_recursion_that_many_read_is_followed_once(dialect: str) -> None:
    start = time.perf_counter()
    assert judge(chain(20, "(SELECT max(t) FROM {})", "t || t"), dialect) == ""
    assert time.perf_counter() - start < 5


def test_what_the_recursion_before_makes_is_known_to_the_next() -> None:
    below = "(SELECT max(t) FROM {0}) || (SELECT max(t) FROM {0})"
    assert judge(chain(5, below, "t")) == ""
    assert judge(chain(20, below, "t")) == "too_much_text"


def nest_recursions(levels: int) -> str:
    """Recursions within one another, each of which reads the one around it in its step."""
    query = "SELECT max(t) FROM r0"
    for at in reversed(range(levels)):
        around = f"r{at - 1}.i" if at else "0"
        step = f"SELECT i + 1, {around}, ({query}) FROM r{at} WHERE i < 5"
        body = f"SELECT 1 AS i, {around} AS j, 1 AS t UNION ALL {step}"
        query = f"WITH RECURSIVE r{at} AS ({body}) SELECT max(t) FROM r{at}"
    return query


def test_recursions_within_one_another_are_not_followed_for_ages() -> None:
    assert judge(nest_recursions(2), "duckdb") == ""
    start = time.perf_counter()
    assert judge(nest_recursions(8), "duckdb") == "too_much_text"
    assert time.perf_counter() - start < 20


def test_a_query_that_takes_long_to_measure_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judge(nest_recursions(2), "duckdb") == ""
    monkeypatch.setattr(growth, "_MOST_LOOKS", 300)
    assert judge(nest_recursions(1), "duckdb") == ""
    assert judge(nest_recursions(2), "duckdb") == "too_much_text"


@pytest.mark.parametrize("call", ["replace", "regexp_replace"])
def test_a_replacement_that_is_replaced_is_measured_once(call: str) -> None:
    start = time.perf_counter()
    for levels, code in ((1, ""), (22, "too_much_text")):
        nested = f"{call}('a', 'b', " * levels + "name" + ")" * levels
        assert judge(f"SELECT {nested} FROM customers") == code
    assert time.perf_counter() - start < 5


# What looks for one text or list in another, {a} and {b}.
SEARCHES = {
    "postgres": """
        {a} LIKE {b}; {a} NOT LIKE {b} ESCAPE 'x'; {b} ILIKE {a}; {a} SIMILAR TO {b}; {a} ~ {b};
        {a} !~* {b}; {a} ~~ {b}; {a} LIKE ANY (ARRAY[{b}]); {a} LIKE ALL (ARRAY[{b}]);
        strpos({a}, {b}); position({b} IN {a});
        split_part({a}, {b}, 1); replace({a}, {b}, ''); translate({a}, {b}, ''); btrim({a}, {b});
        ltrim({a}, {b}); rtrim({a}, {b}); trim(BOTH {b} FROM {a}); string_to_array({a}, {b});
        ARRAY[{a}] && ARRAY[{b}]; ARRAY[{a}] @> ARRAY[{b}]; ARRAY[{a}] <@ ARRAY[{b}];
        {a}::jsonb - ARRAY[{b}]
    """,
    "sqlite": """
        {a} LIKE {b}; {a} GLOB {b}; like({a}, {b}); glob({a}, {b}); instr({a}, {b});
        replace({a}, {b}, ''); trim({a}, {b}); ltrim({a}, {b}); rtrim({a}, {b});
        json_patch({a}, {b})
    """,
    "duckdb": """
        {a} LIKE {b}; {a} GLOB {b}; {a} SIMILAR TO {b}; contains({a}, {b}); instr({a}, {b});
        position({b} IN {a}); strpos({a}, {b}); split({a}, {b}); str_split({a}, {b});
        string_split({a}, {b}); trim({a}, {b}); [{a}] && [{b}]; [{a}] @> [{b}];
        list_has_any([{a}], [{b}]); list_has_all([{a}], [{b}]); list_intersect([{a}], [{b}]);
        array_has_any([{a}], [{b}]); array_has_all([{a}], [{b}]); array_intersect([{a}], [{b}]);
        json_contains({a}, {b})
    """,
}


@pytest.mark.parametrize(
    ("dialect", "search"),
    [(dialect, part.strip()) for dialect, list_ in SEARCHES.items() for part in list_.split(";")],
)
def test_long_texts_are_not_searched_for_one_another(dialect: str, search: str) -> None:
    ctes = [f"t0 AS (SELECT {repeat('a', 100)} AS a, {repeat('b', 100)} AS b)"]
    for at in range(1, 4):
        value = " || ".join(["{}"] * 5)
        values = f"{value.replace('{}', 'a')} AS a, {value.replace('{}', 'b')} AS b"
        ctes.append(f"t{at} AS (SELECT {values} FROM t{at - 1})")
    sql = f"WITH {', '.join(ctes)} SELECT {search.format(a='l.a', b='s.b')} FROM t3 AS l, {{}} AS s"
    assert judge(sql.format("t0"), dialect) == ""
    assert judge(sql.format("t3"), dialect) == "too_much_text"


def test_all_searches_of_a_query_count_together() -> None:
    def write(count: int) -> str:
        searches = [f"strpos(a, {repeat('x', 70 + at)})" for at in range(count)]
        return f"SELECT {', '.join(searches)} FROM (SELECT repeat('aaaaaaaaaa', 10000) AS a) AS t"

    assert judge(write(9)) == ""
    assert judge(write(14)) == "too_much_text"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM customers WHERE name ILIKE '%smith%' OR country LIKE '%' || name",
        "SELECT a.name FROM customers a JOIN customers b ON a.name LIKE '%' || b.name || '%'",
        "SELECT length(name) - length(replace(name, ' ', '')), split_part(name, ' ', 1) "
        "FROM customers WHERE string_to_array(name, ',') && ARRAY['a', 'b']",
        "SELECT string_agg(name, ', ') LIKE '%x%' FROM customers",
    ],
)
def test_ordinary_searches_pass(sql: str) -> None:
    assert judge(sql) == ""


LONG_NUMBERS = {
    "power": "7::numeric ^ 150000",
    "power_of_a_product": "7::numeric ^ (1500 * 100)",
    "power_of_a_length": "power(3::numeric, length(repeat('a', 9000)) * 10)",
    "number": "1e100000",
    "number_behind_the_point": "1e-16000",
    "text": "'1e100000'::numeric",
    "repeated_text": "repeat('9876543210', 10000)::numeric",
    "text_in_parts": "('1e' || '100000')::numeric",
    "factorials": " * ".join(["factorial(1000)"] * 8),
}


@pytest.mark.parametrize("number", LONG_NUMBERS.values(), ids=LONG_NUMBERS)
@pytest.mark.parametrize("call", ["x / y", "x % y", "x * y", "div(x, y)", "mod(x, y)", "sqrt(x)"])
def test_long_numbers_are_not_computed_with(number: str, call: str) -> None:
    def write(value: str) -> str:
        calls = f"greatest({', '.join([call] * 150)})"
        return f"SELECT {calls} FROM (VALUES ({value}, {value}), (1, 1)) AS v (x, y)"

    assert judge(write(number)) == "too_much_text"
    assert judge(write("7::numeric ^ 15")) == ""
    assert judge(write("'12.5'::numeric")) == ""


def test_a_number_that_is_squared_at_each_step() -> None:
    sql = (
        "WITH RECURSIVE n AS (SELECT 1 AS i, 7.5 AS x UNION ALL SELECT i + 1, {} FROM n "
        "WHERE i < 17) SELECT max(x) FROM n"
    )
    assert judge(sql.format("x * x")) == "too_much_text"
    for step in ("x * 1.05", "x * i", "(x * x)::double precision", "x + x"):
        assert judge(sql.format(step)) == ""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT power(max(total) / min(total), 1.0 / (count(*) - 1)) - 1 FROM orders",
        "SELECT total * 0.01 * (1 + 0.01) ^ 360 / ((1 + 0.01) ^ 360 - 1) FROM orders",
        "SELECT total * power(1 + total / 12, id) / (power(1 + total / 12, id) - 1) FROM orders",
        "SELECT n, 1000 * power(1.05, n) FROM generate_series(1, 30) AS n",
        "SELECT sqrt(sum((total - 5) ^ 2) / count(*)), sum(total * total) / count(*) FROM orders",
        "SELECT (count(*) * sum(total * id) - sum(total) * sum(id)) / (sqrt(count(*) * "
        "sum(total * total) - power(sum(total), 2)) * sqrt(count(*) * sum(id * id) - "
        "power(sum(id), 2))) FROM orders",
        "SELECT replace(name, ',', '')::numeric / nullif(replace(country, ',', '')::numeric, 0) "
        "FROM customers",
    ],
)
def test_ordinary_arithmetic_passes(sql: str) -> None:
    assert judge(sql) == ""


def test_a_wide_query_is_not_looked_through_for_each_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = []

    def look(output: exp.Expr) -> exp.Star | None:
        looks.append(output)
        return find_star(output)

    monkeypatch.setattr(growth, "find_star", look)
    names = [f"c{at}" for at in range(300)]
    inner = ", ".join(f"id {name}" for name in names)
    sql = f"SELECT repeat('x', 3), {', '.join(names)} FROM (SELECT {inner} FROM orders) AS d"
    assert judge(sql) == ""
    assert len(looks) < 1000


JOINED = "orders o JOIN customers c ON c.id = o.customer_id JOIN order_lines l ON l.order_id = o.id"
GATHERED_ROWS = {
    # A row is as long as its columns, and so is a table: only what was made longer counts for each
    # of the rows that a join may have.
    f"SELECT json_agg(o) FROM {JOINED}": "",
    f"SELECT json_agg(DISTINCT o) FROM {JOINED}": "",
    f"SELECT array_agg(o ORDER BY o.id) FROM {JOINED}": "",
    "SELECT jsonb_agg(d ORDER BY d) FROM (SELECT c.name, c.country, o.total, sum(o.total) AS v, "
    f"round(100.0 * sum(o.total) / o.total, 1) AS p FROM {JOINED} GROUP BY 1, 2, 3) AS d": "",
    f"SELECT json_agg(d) FROM (SELECT o.*, repeat('x', 9000) FROM {JOINED}) AS d": "too_much_text",
    f"SELECT json_agg(DISTINCT d) FROM (SELECT repeat('x', 9000) FROM {JOINED}) AS d": (
        "too_much_text"
    ),
    f"SELECT json_agg(d ORDER BY d) FROM (SELECT repeat('x', 9000) FROM {JOINED}) AS d": (
        "too_much_text"
    ),
    f"SELECT json_agg(d) FROM (SELECT {', '.join(['repeat(c.name, 9)'] * 9)} FROM {JOINED}) AS d": (
        "too_much_text"
    ),
    # What is sorted is held, too.
    f"SELECT json_agg(c.name ORDER BY repeat(c.name, 5000)) FROM {JOINED}": "too_much_text",
}


@pytest.mark.parametrize(("sql", "code"), GATHERED_ROWS.items())
def test_of_gathered_rows_counts_what_was_made_longer(sql: str, code: str) -> None:
    assert judge(sql) == code
