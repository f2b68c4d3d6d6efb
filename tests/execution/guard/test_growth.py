"""Where a text, a list or a number becomes too large (golden: fixtures/growth_*.txt).

What is small, or ends, stands in ``fixtures/verdicts_growth.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.execution.judging import judge
from tests.golden import FIXTURES, load_cases, load_changes

LONG = f"'{'x' * 9000}'"


def list_constructs(heading: str) -> list[str]:
    return [line for found, line in load_cases("growth_constructs") if found == heading]


def nest(levels: int, output: str, keyword: str = "AS MATERIALIZED", end: str = "") -> str:
    """CTEs on top of one another, each with ``output`` over the column ``t`` of the one below."""
    ctes = ["a0 AS (SELECT 'x' || now()::text AS t)"]
    for at in range(1, levels + 1):
        ctes.append(f"a{at} {keyword} (SELECT {output} AS t FROM a{at - 1} {end})")
    return f"WITH {', '.join(ctes)} SELECT length(t) FROM a{levels}"


@pytest.mark.parametrize(
    ("output", "most"),
    load_changes("growth_constructs", "levels"),
)
def test_levels_until_it_is_too_much(output: str, most: str) -> None:
    if most == "any":
        # What gives back its argument may be nested.
        assert judge(nest(40, output)) == ""
    else:
        assert judge(nest(int(most), output)) == ""
        assert judge(nest(int(most) + 1, output)) == "too_much_text"


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


@pytest.mark.parametrize("place", list_constructs("places"))
def test_a_text_is_measured_wherever_it_is_made(place: str) -> None:
    for times, code in ((10, ""), (10_000, "too_much_text")):
        assert judge(place.format(f"repeat(repeat('x', 10000), {times})")) == code


@pytest.mark.parametrize("source", list_constructs("sources"))
def test_a_column_is_as_long_as_what_makes_it(source: str) -> None:
    for times, code in ((10, ""), (10_000, "too_much_text")):
        sql = f"SELECT length(repeat(t, {times})) FROM {source}"
        assert judge(sql.format("repeat('x', 10000)")) == code
    # In the function's call itself it is as long as it is.
    assert judge(f"SELECT length(repeat(t, 10000)) FROM {source}".format("'x'")) == ""


def repeat(times: int) -> str:
    return f"'{'x' * times}'"


def chain(recursions: int, below: str, count: str) -> str:
    """Recursive queries, each of which reads ``below`` of the one before it in its step."""
    ctes = ["r0 (i, t) AS (SELECT 1, 'x' UNION ALL SELECT i + 1, t FROM r0 WHERE i < 5)"]
    for at in range(1, recursions):
        value = below.format(f"r{at - 1}")
        step = f"SELECT i + 1, substr({value}, 1, 3) FROM r{at} WHERE i < 5"
        ctes.append(f"r{at} (i, t) AS (SELECT 1, 'x' UNION ALL {step})")
    return f"WITH RECURSIVE {', '.join(ctes)} SELECT {count} FROM r{recursions - 1}"


def take_apart(levels: int) -> str:
    """Functions in FROM, each of which takes apart what the one before it makes."""
    sql = "SELECT 1 FROM string_to_table('a', '') AS t0 (u0)"
    for at in range(1, levels):
        value = " || ".join([f"u{at - 1}"] * 4)
        sql += f", string_to_table({value}, '') AS t{at} (u{at})"
    return sql


# What grows by the number of its parts: one of them, and many.
GROWING: dict[str, Callable[[int], str]] = {
    "nodes": lambda n: nest(n, "t || t || t || t", "AS"),
    "sums": lambda n: nest(n, "t + t + t + t", "AS").replace("'x' || now()::text", "1"),
    "texts": lambda n: nest(n, "t || t || t || t"),
    "overlays": lambda n: nest(2 * n, "overlay(t PLACING t FROM 1 FOR 0)"),
    "rows": lambda n: f"SELECT {'(' * n}'x'{', 1)' * n}",
    "calls": lambda n: f"SELECT {'to_json(' * (n + 9)}name{')' * (n + 9)} FROM customers",
    "replacements": lambda n: f"SELECT {'replace(' * n}'x'{', $$x$$, $$xxxxxxxxxx$$)' * n}",
    "functions_of_nothing": lambda n: nest(n, "t || t || t || t", "AS", "LIMIT 1"),
    "functions_that_take_apart": take_apart,
    "recursions": lambda n: chain(n, "(SELECT max(t) FROM {0}) || (SELECT max(t) FROM {0})", "t"),
    "searches": lambda n: (
        f"SELECT {', '.join(f'strpos(a, {repeat(70 + at)})' for at in range(n))} "
        "FROM (SELECT repeat('aaaaaaaaaa', 10000) AS a) AS t"
    ),
}


@pytest.mark.parametrize("write", GROWING.values(), ids=GROWING)
def test_one_passes_and_many_do_not(write: Callable[[int], str]) -> None:
    assert judge(write(1)) == ""
    assert judge(write(20)) == "too_much_text"


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgres", f"SELECT ARRAY(SELECT {LONG} FROM pg_catalog.string_to_table({LONG}, NULL))"),
        ("postgres", f"SELECT strpos(a, b) + strpos(b, a) FROM (SELECT {LONG} a, {LONG} b) AS t"),
        ("postgres", f"SELECT format('%{'9' * 5000}s', 'x')"),
        ("postgres", f"SELECT {', '.join(['1e100000 / 1e100000'] * 150)}"),
        (
            "postgres",
            f"SELECT strpos(repeat(repeat('xxxxx', 10000), 20), {repeat(100)}), strpos('x', 'y')",
        ),
        (
            "postgres",
            f"SELECT generate_series(now(), now(), '{'9' * 5000} days'), repeat('x', 10001)",
        ),
        ("duckdb", f"SELECT {'[' * 30}'x'{']::text' * 30}"),
        ("duckdb", f"SELECT {'[], ' * 1200} repeat(repeat('x', 10000), 10000)"),
    ],
    ids=lambda value: value[:60],
)
def test_what_grows_is_not_called_small(dialect: str, sql: str) -> None:
    assert judge(sql, dialect) in ("too_much_text", "too_many_rows")


@pytest.mark.parametrize(
    "clause", ["GROUP BY t", "LIMIT 5", "OFFSET 1", "DISTINCT", "UNION ALL SELECT 'x'"]
)
def test_a_query_that_stays_apart_counts_as_one_node(clause: str) -> None:
    levels = ["a0 AS (SELECT name AS t FROM customers)"]
    for level in range(1, 15):
        output = "DISTINCT t || t" if clause == "DISTINCT" else "t || t"
        end = "" if clause == "DISTINCT" else clause
        levels.append(f"a{level} AS (SELECT {output} AS t FROM a{level - 1} {end})")
    sql = f"WITH {', '.join(levels)} SELECT t FROM a14"
    assert judge(sql) == ""
    assert judge(sql.replace(clause, "")) == "too_much_text"


@pytest.mark.parametrize(
    ("case", "most"),
    load_changes("growth_constructs", "pairs of levels"),
)
def test_a_list_has_its_quotes_doubled_when_it_becomes_text(case: str, most: str) -> None:
    dialect, first, second = case.split(" | ")

    def write(pairs: int) -> str:
        ctes = ["a0 AS (SELECT 'twenty letters of text' AS t)"]
        for at in range(1, pairs + 1):
            ctes.append(f"b{at} AS MATERIALIZED (SELECT {first} AS t FROM a{at - 1})")
            ctes.append(f"a{at} AS MATERIALIZED (SELECT {second} AS t FROM b{at})")
        return f"WITH {', '.join(ctes)} SELECT length(t) FROM a{pairs}"

    assert judge(write(int(most)), dialect) == ""
    assert judge(write(int(most) + 1), dialect) == "too_much_text"


@pytest.mark.parametrize(
    "level",
    [
        # DuckDB takes the first of two outputs of one name.
        "SELECT s.*, 1 AS a FROM (SELECT a || a || a || a AS a FROM {below}) AS s",
    ],
)
def test_what_a_star_gives_grows(level: str) -> None:
    for levels, code in ((4, ""), (14, "too_much_text")):
        ctes = ["c0 AS (SELECT 'twenty letters of text' AS a)"]
        ctes += [f"c{at} AS ({level.format(below=f'c{at - 1}')})" for at in range(1, levels)]
        sql = f"WITH {', '.join(ctes)} SELECT length(a) FROM c{levels - 1}"
        assert judge(sql, "duckdb") == code


def test_a_wide_query_is_not_looked_through_for_each_column() -> None:
    """That would be more looks than the guard takes."""
    names = [f"c{at}" for at in range(300)]
    inner = ", ".join(f"id {name}" for name in names)
    sql = f"SELECT repeat('x', 3), {', '.join(names)} FROM (SELECT {inner} FROM orders) AS d"
    assert judge(sql) == ""


@pytest.mark.parametrize(
    "condition",
    ["= 'y'", "LIKE 'y'", "IN ('y')", "IS NULL", "BETWEEN 'a' AND 'b'", "IS DISTINCT FROM 'y'"],
)
def test_a_truth_is_no_longer_than_a_word(condition: str) -> None:
    assert judge(f"SELECT repeat(({LONG} {condition})::text, 3000)") == ""


@pytest.mark.parametrize(
    ("dialect", "value", "passes", "refused"),
    [
        # What a format makes is as long as its width.
        ("postgres", "format('%999s', 'x')", 9000, 10_000),
        ("duckdb", "format('{:999}', 'x')", 9000, 10_000),
        ("duckdb", "printf('%999d', 1)", 9000, 10_000),
    ],
)
def test_how_long_a_value_is(dialect: str, value: str, passes: int, refused: int) -> None:
    assert judge(f"SELECT repeat({value}, {passes})", dialect) == ""
    assert judge(f"SELECT repeat({value}, {refused})", dialect) == "too_much_text"


@pytest.mark.parametrize("call", list_constructs("paths in JSON"))
def test_a_path_descends_once_at_most(call: str) -> None:
    def judge_path(path: str) -> str:
        rows = "(SELECT name::jsonb AS d FROM customers) AS t"
        return judge(f"SELECT {call.format(path)} FROM {rows}")

    for path in ("'$.a[*] ? (@ > 1)'", "'strict $.**.name'", "('$.**{2 to 3}')", "'$[0, 1].*.*'"):
        assert judge_path(path) == "", path
    for path in (
        "'$.**.**'",
        "'strict $.**.a.**{1 to 5}'",
        "E'$.*\\x2a.**'",
        "$$$.**.**$$",
        "'$.*' '*.**'",
        "'$.**' || '.**'",
        "CASE WHEN true THEN '$.**.**' END",
        f"'${'[0, 0]' * 11}'",
    ):
        assert judge_path(path) == "too_much_text", path


# -- searches and numbers ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "search"),
    [
        (dialect, search)
        for dialect in ("postgres", "sqlite", "duckdb")
        for search in list_constructs(f"searches {dialect}")
    ],
)
def test_long_texts_are_not_searched_for_one_another(dialect: str, search: str) -> None:
    ctes = [f"t0 AS (SELECT {repeat(100)} AS a, {repeat(100)} AS b)"]
    for at in range(1, 4):
        value = " || ".join(["{}"] * 5)
        values = f"{value.replace('{}', 'a')} AS a, {value.replace('{}', 'b')} AS b"
        ctes.append(f"t{at} AS (SELECT {values} FROM t{at - 1})")
    sql = f"WITH {', '.join(ctes)} SELECT {search.format(a='l.a', b='s.b')} FROM t3 AS l, {{}} AS s"
    assert judge(sql.format("t0"), dialect) == ""
    assert judge(sql.format("t3"), dialect) == "too_much_text"


@pytest.mark.parametrize("call", ["x / y", "x % y", "x * y", "div(x, y)", "mod(x, y)", "sqrt(x)"])
def test_long_numbers_are_not_computed_with(call: str) -> None:
    def write(value: str) -> str:
        calls = f"greatest({', '.join([call] * 150)})"
        return f"SELECT {calls} FROM (VALUES ({value}, {value}), (1, 1)) AS v (x, y)"

    for number in list_constructs("long numbers"):
        assert judge(write(number)) == "too_much_text", number
    for short in ("7::numeric ^ 15", "'12.5'::numeric", "concat('1e', 100000)::integer"):
        assert judge(write(short)) == "", short


# -- recursion ---------------------------------------------------------------------------------


@pytest.mark.parametrize("recursion", list_constructs("doubling recursions"))
def test_a_text_that_doubles_at_each_step(recursion: str) -> None:
    first, names, step = recursion.split(" | ")
    end = "" if " FROM " in step else " FROM n WHERE i < 30"
    sql = f"WITH RECURSIVE n {names} AS ({first} UNION ALL {step}{end}) SELECT t FROM n"
    assert judge(sql) == "too_much_text"
    for doubled in (" || t", " || n.t", " || m.t", " || j.t"):
        sql = sql.replace(doubled, "")
    assert judge(sql.replace("json_build_array(t)::text", "t")) == ""


@pytest.mark.parametrize(
    ("first", "grows", "stays"),
    [
        ("7.5", "x * x", ("x * 1.05", "x * i", "(x * x)::double precision", "x + x")),
        ("ARRAY['x y']", "ARRAY[x::text]", ("ARRAY['x']",)),
    ],
)
def test_a_value_that_grows_at_each_step(first: str, grows: str, stays: tuple[str, ...]) -> None:
    sql = (
        f"WITH RECURSIVE n AS (SELECT 1 AS i, {first} AS x UNION ALL SELECT i + 1, {{}} FROM n "
        "WHERE i < 17) SELECT max(x)::text FROM n"
    )
    assert judge(sql.format(grows)) == "too_much_text"
    for step in stays:
        assert judge(sql.format(step)) == ""


def test_a_query_with_more_names_than_columns_is_refused() -> None:
    step = "SELECT i + 1, t FROM n WHERE i < 5"
    sql = f"WITH RECURSIVE n (i, t, u) AS (SELECT 1, 'x' UNION ALL {step}) SELECT t FROM n"
    assert judge(sql)


@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb"])
def test_a_recursion_that_many_read_is_followed_once(dialect: str) -> None:
    # Followed for each that reads it, it would be too many looks.
    assert judge(chain(20, "(SELECT max(t) FROM {})", "t || t"), dialect) == ""


def test_recursions_within_one_another_are_not_followed_for_ages() -> None:
    def write(levels: int) -> str:
        query = "SELECT max(t) FROM r0"
        for at in reversed(range(levels)):
            around = f"r{at - 1}.i" if at else "0"
            step = f"SELECT i + 1, {around}, ({query}) FROM r{at} WHERE i < 5"
            body = f"SELECT 1 AS i, {around} AS j, 1 AS t UNION ALL {step}"
            query = f"WITH RECURSIVE r{at} AS ({body}) SELECT max(t) FROM r{at}"
        return query

    assert judge(write(2), "duckdb") == ""
    assert judge(write(8), "duckdb") == "too_much_text"
