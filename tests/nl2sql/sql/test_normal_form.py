"""One form for spellings of one query; never one form for two results."""

from __future__ import annotations

import pytest

from nl2sql.sql.normal_form import normal_form
from tests.golden import load_changes


@pytest.mark.parametrize(
    ("left", "right"),
    [
        *load_changes("normal_form", "same"),
        ("SELECT a\n  FROM t", "SELECT a FROM t"),
        ("not  sql (", "not sql ("),
    ],
)
def test_spellings_of_one_query_share_their_form(left: str, right: str) -> None:
    assert normal_form(left) == normal_form(right)


@pytest.mark.parametrize(("left", "right"), load_changes("normal_form", "different"))
def test_different_queries_keep_different_forms(left: str, right: str) -> None:
    assert normal_form(left) != normal_form(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ('SELECT a FROM t WHERE b = "France"', 'SELECT a FROM t WHERE b = "FRANCE"'),
        ('SELECT a FROM t WHERE b = "c"', "SELECT a FROM t WHERE b = c"),
    ],
    ids=["capitals", "column"],
)
def test_what_sqlite_may_read_as_a_text_keeps_its_quotes(left: str, right: str) -> None:
    assert normal_form(left, "sqlite") != normal_form(right, "sqlite")


def test_sqlite_and_duckdb_compare_names_without_case() -> None:
    for dialect in ("sqlite", "duckdb"):
        left = normal_form('SELECT x."Name" FROM "T" AS x', dialect)
        assert left == normal_form("SELECT t.NAME FROM t", dialect)


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {'(' * 2000}1{')' * 2000}",
        "WITH x AS (SELECT DATETIME(day) FROM t) SELECT 1 FROM x",
    ],
    ids=["too deep to read", "not to be written"],
)
def test_what_sqlglot_cannot_read_or_write_still_has_a_form(sql: str) -> None:
    assert normal_form(f"{sql}  ", "duckdb") == sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM t, LATERAL (SELECT b FROM u WHERE u.id = t.id) AS x",
        "SELECT x FROM unnest(ARRAY[1, 2]) AS x",
        "SELECT * FROM (t JOIN u ON t.id = u.id) JOIN v ON v.id = t.id",
        "SELECT z.a FROM t",
        "VALUES (1), (2)",
    ],
    ids=["lateral", "function", "nested join", "unknown alias", "values"],
)
def test_what_cannot_be_followed_is_its_own_text(sql: str) -> None:
    assert normal_form(sql) == normal_form(sql.replace(" ", "  "))
    assert "#" not in normal_form(sql)
