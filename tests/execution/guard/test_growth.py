"""Where exactly a text or an expression becomes too large, construct by construct."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from sqlglot import exp

from execution.guard import growth
from execution.guard.guard import guard_query
from execution.name_resolution.nodes import find_star
from execution.policies.access import open_access
from nl2sql.types import Violation
from tests.execution.guard.test_cost_bombs import nest
from tests.fakes import SHOP
from tests.golden import FIXTURES


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


# Name, dialect, largest number that passes, query.
SIZES = [
    line.split(" ", 3)
    for line in (FIXTURES / "growth_sizes.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
_MANY = re.compile(r"\{n (of|x) ([^{}]+)\}")


def write_size(query: str, number: int) -> str:
    """The query with its number put in.

    >>> write_size("SELECT {n}, ARRAY[{n of 1}], '{n x a}'", 3)
    "SELECT 3, ARRAY[1, 1, 1], 'aaa'"
    """
    filled = _MANY.sub(
        lambda match: (", " if match[1] == "of" else "").join([match[2]] * number), query
    )
    return filled.replace("{n}", str(number))


@pytest.mark.parametrize(
    ("dialect", "most", "query"), [case[1:] for case in SIZES], ids=[case[0] for case in SIZES]
)
def test_sizes_until_it_is_too_much(dialect: str, most: str, query: str) -> None:
    assert judge(write_size(query, int(most)), dialect) == ""
    assert judge(write_size(query, int(most) + 1), dialect) == "too_much_text"


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


@pytest.mark.parametrize("call", ["replace", "regexp_replace"])
def test_a_replacement_that_is_replaced_is_measured_once(call: str) -> None:
    start = time.perf_counter()
    for levels, code in ((1, ""), (22, "too_much_text")):
        nested = f"{call}('a', 'b', " * levels + "name" + ")" * levels
        assert judge(f"SELECT {nested} FROM customers") == code
    assert time.perf_counter() - start < 5


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


_LONG = f"'{'x' * 9000}'"

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
def test_what_grows_is_not_called_small(dialect: str, sql: str) -> None:
    assert judge(sql, dialect) == "too_much_text"


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
