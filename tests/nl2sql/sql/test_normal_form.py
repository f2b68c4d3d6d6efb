"""One form for spellings of one query; never one form for two results."""

from __future__ import annotations

import pytest

from nl2sql.sql.normal_form import normal_form

SAME: dict[str, tuple[str, str]] = {
    "case": ("select a from t", "SELECT A FROM T"),
    "space": ("SELECT a\n  FROM t", "SELECT a FROM t"),
    "comments": ("SELECT a FROM t -- all", "SELECT /* x */ a FROM t"),
    "needless quotes": ("SELECT a FROM t", 'SELECT "a" FROM "t"'),
    "not equal": ("SELECT a FROM t WHERE b <> 1", "SELECT a FROM t WHERE b != 1"),
    "needless table": ("SELECT a FROM t", "SELECT t.a FROM t"),
    "aliases": ("SELECT T1.a FROM t AS T1", "SELECT x.a FROM t x"),
    "aliases of a join": ("SELECT x.a FROM t AS x JOIN u AS y ON x.id = y.id",
        "SELECT t.a FROM t INNER JOIN u ON u.id = t.id"),
    "outer": ("SELECT a FROM t LEFT OUTER JOIN u USING (id)",
        "SELECT a FROM t LEFT JOIN u USING (id)"),
    "output name": ("SELECT count(*) AS n FROM t", "SELECT count(*) FROM t"),
    "order by an output name": ("SELECT b, count(*) AS n FROM t GROUP BY b ORDER BY n DESC",
        "SELECT b, count(*) FROM t GROUP BY t.b ORDER BY count(*) DESC"),
    "asc": ("SELECT a FROM t ORDER BY b ASC", "SELECT a FROM t ORDER BY b"),
    "derived table": ("SELECT x.a FROM (SELECT a FROM t) AS x",
        "SELECT a FROM (SELECT q.a FROM t q) y"),
    "correlated": ("SELECT a FROM t AS x WHERE EXISTS (SELECT 1 FROM u AS y WHERE y.id = x.id)",
        "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE t.id = u.id)"),
    "cast": ("SELECT CAST(a AS int) FROM t", "SELECT a::integer FROM t"),
    "function": ("SELECT LOWER(a) FROM t", "SELECT lower(a) FROM t"),
    "unparsable": ("not  sql (", "not sql ("),
}  # fmt: skip


@pytest.mark.parametrize(("left", "right"), SAME.values(), ids=SAME)
def test_spellings_of_one_query_share_their_form(left: str, right: str) -> None:
    assert normal_form(left) == normal_form(right)


DIFFERENT: dict[str, tuple[str, str]] = {
    "column": ("SELECT a FROM t", "SELECT b FROM t"),
    "quoted capitals": ('SELECT "A" FROM t', "SELECT a FROM t"),
    "quoted keyword": ('SELECT "user" FROM t', "SELECT user FROM t"),
    "text": ("SELECT 'A' FROM t", "SELECT 'a' FROM t"),
    "type": ("SELECT '1' FROM t", "SELECT 1 FROM t"),
    "integer": ("SELECT 1.0 FROM t", "SELECT 1 FROM t"),
    "limit": ("SELECT a FROM t", "SELECT a FROM t LIMIT 1"),
    "distinct": ("SELECT a FROM t", "SELECT DISTINCT a FROM t"),
    "count": ("SELECT count(a) FROM t", "SELECT count(*) FROM t"),
    "order of columns": ("SELECT a, b FROM t", "SELECT b, a FROM t"),
    "minus": ("SELECT a - b FROM t", "SELECT b - a FROM t"),
    "concatenation": ("SELECT a || b FROM t", "SELECT b || a FROM t"),
    "less or more": ("SELECT a FROM t WHERE b < 1", "SELECT a FROM t WHERE 1 < b"),
    "and or": ("SELECT a FROM t WHERE b AND (c OR d)", "SELECT a FROM t WHERE b AND c OR d"),
    "union all": ("SELECT a FROM t UNION SELECT a FROM u",
        "SELECT a FROM t UNION ALL SELECT a FROM u"),
    "which of two": ("SELECT x.a FROM t AS x JOIN t AS y ON x.id = y.up",
        "SELECT y.a FROM t AS x JOIN t AS y ON x.id = y.up"),
    "outer": ("SELECT a FROM t JOIN u ON t.id = u.id",
        "SELECT a FROM t LEFT JOIN u ON t.id = u.id"),
    "join without on": ("SELECT a FROM t, u", "SELECT a FROM t INNER JOIN u"),
    "schema": ("SELECT a FROM s.t", "SELECT a FROM t"),
    "cte or table": ("WITH t AS (SELECT 1 AS a) SELECT a FROM t",
        "WITH x AS (SELECT 1 AS a) SELECT a FROM t"),
    "shadowed": ("SELECT -a AS a FROM t ORDER BY a", "SELECT -a AS a FROM t ORDER BY t.a"),
    "nulls": ("SELECT a FROM t ORDER BY b DESC", "SELECT a FROM t ORDER BY b DESC NULLS LAST"),
    "order by a number's name": ("SELECT a, 1 AS k FROM t ORDER BY k LIMIT 1",
        "SELECT a, 1 FROM t ORDER BY 1 LIMIT 1"),
    "order by a number in parentheses": ("SELECT a, (1) AS k FROM t ORDER BY k LIMIT 1",
        "SELECT a, 1 FROM t ORDER BY 1 LIMIT 1"),
    "whole row": ("SELECT t FROM t", "SELECT a FROM t AS a"),
    "what may raise": ("SELECT a FROM t WHERE b <> 0 AND 1 / b > 2",
        "SELECT a FROM t WHERE 1 / b > 2 AND b <> 0"),
    "whose column": ("SELECT a FROM t WHERE id IN (SELECT id FROM u)",
        "SELECT a FROM t WHERE id IN (SELECT u.id FROM u)"),
    "quotes in a text": ("SELECT a FROM t WHERE b = 'x AND c = ''y'",
        "SELECT a FROM t WHERE b = 'x' AND c = 'y'"),
}  # fmt: skip


@pytest.mark.parametrize(("left", "right"), DIFFERENT.values(), ids=DIFFERENT)
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


def test_a_query_too_deep_to_parse_still_has_a_form() -> None:
    deep = f"SELECT {'(' * 2000}1{')' * 2000}"
    assert normal_form(f"{deep}  ") == deep


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


# -- the same form means the same rows -------------------------------------------------------------
