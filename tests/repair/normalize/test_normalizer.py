"""The order of things, and everything that must be left alone."""

from __future__ import annotations

import random

import pytest

from repair.corrected import Corrected
from repair.normalize import normalize_dialect
from tests.repair.normalize.goldens import GOLDENS, TABLES

TARGETS = ("postgres", "sqlite", "duckdb")


def test_several_dialects_in_one_query() -> None:
    made = normalize_dialect(
        "SELECT TOP 2 `name`, IFNULL(city, '') FROM people WHERE YEAR(born) == 1990",
        tables=TABLES,
    )
    assert made == Corrected(
        "SELECT \"name\", COALESCE(city, '') FROM people "
        "WHERE EXTRACT(YEAR FROM born) = 1990 LIMIT 2",
        ("operators", "read_as_postgres", "calls", "date_parts"),
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("SELECT name FROM people WHERE city = 'Oslo'", id="plain"),
        pytest.param("SELECT name FROM people;", id="a semicolon at the end"),
        pytest.param("SELECT count(*) FROM people -- `note`", id="a comment"),
        pytest.param("SELECT '`a` == ! [b] && TOP 3, FROM' FROM people", id="text"),
        pytest.param("SELECT 1; SELECT `a`", id="two statements"),
        pytest.param("DELETE FROM `people`", id="no query"),
        pytest.param("SELECT `a` FROM t WHERE", id="unreadable"),
        pytest.param("not sql at all (", id="no SQL"),
        pytest.param("", id="nothing"),
        pytest.param(f"SELECT {'(' * 2000}`1`{')' * 2000}", id="too deep"),
        pytest.param(f"SELECT `a`{' ' * 30_000} FROM t", id="too long"),
        pytest.param("SELECT a.x FROM a JOIN b USING (id) ORDER BY 1 LIMIT 3 OFFSET 2", id="order"),
        pytest.param("WITH w AS (SELECT 1 AS a) SELECT a FROM w UNION SELECT 2", id="cte"),
        pytest.param("SELECT sum(x) OVER (PARTITION BY a ORDER BY b) FROM t", id="window"),
        pytest.param("SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END FROM t", id="case"),
    ],
)
def test_what_needs_no_rule_is_left_alone(sql: str, target: str) -> None:
    assert normalize_dialect(sql, target, tables=TABLES) is None


@pytest.mark.parametrize("target", TARGETS)
def test_without_tables_no_rule_guesses_at_types(target: str) -> None:
    sql = "SELECT name FROM people WHERE active = 1 AND year = 2014 AND born = '1990'"
    assert normalize_dialect(sql, target) is None


def test_broken_queries_break_nothing() -> None:
    chance = random.Random(6)
    for golden in GOLDENS:
        words = golden.before.split()
        del words[chance.randrange(len(words))]
        words.insert(chance.randrange(len(words) + 1), chance.choice(words))
        for sql in (" ".join(words), golden.before[: chance.randrange(len(golden.before))]):
            made = normalize_dialect(sql, golden.target, tables=TABLES)
            assert made is None or made.sql


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("operator", ["=", "IN", "NOT IN", "> ANY", "<= ALL", "+", "BETWEEN"])
def test_a_query_that_is_cut_off_breaks_nothing(operator: str, target: str) -> None:
    words = (
        f"SELECT name , (SELECT max(`year`) FROM people p) FROM people WHERE year {operator} "
        "(SELECT year FROM people WHERE note IN (SELECT city FROM people) GROUP BY year) "
        "ORDER BY 1 LIMIT 3"
    ).split()
    for end in range(1, len(words)):
        made = normalize_dialect(" ".join(words[:end]), target, tables=TABLES)
        assert made is None or made.sql
