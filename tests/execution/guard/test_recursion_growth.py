"""What grows from step to step of a recursive query, and how long measuring it may take."""

from __future__ import annotations

import time

import pytest

from execution.guard import growth
from tests.execution.guard.test_growth import judge

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


def test_a_list_that_becomes_text_at_each_step() -> None:
    sql = (
        "WITH RECURSIVE n AS (SELECT 1 AS i, ARRAY['x y'] AS t UNION ALL "
        "SELECT i + 1, ARRAY[{step}] FROM n WHERE i < 30) SELECT t::text FROM n"
    )
    assert judge(sql.format(step="t::text")) == "too_much_text"
    assert judge(sql.format(step="'x'")) == ""


def test_a_number_that_is_squared_at_each_step() -> None:
    sql = (
        "WITH RECURSIVE n AS (SELECT 1 AS i, 7.5 AS x UNION ALL SELECT i + 1, {} FROM n "
        "WHERE i < 17) SELECT max(x) FROM n"
    )
    assert judge(sql.format("x * x")) == "too_much_text"
    for step in ("x * 1.05", "x * i", "(x * x)::double precision", "x + x"):
        assert judge(sql.format(step)) == ""


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
