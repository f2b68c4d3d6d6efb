"""SQL out of what models say."""

from __future__ import annotations

import pytest

from nl2sql.sql_text import extract_sql, normal_form


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        pytest.param("SELECT 1", "SELECT 1", id="bare"),
        pytest.param("SELECT 1;\n", "SELECT 1", id="semicolon"),
        pytest.param("select 1 ;", "select 1", id="space_before_semicolon"),
        pytest.param("```sql\nSELECT 1\n```", "SELECT 1", id="fence"),
        pytest.param("```\nSELECT 1\n```", "SELECT 1", id="fence_without_language"),
        pytest.param("```postgresql\nSELECT 1;\n```", "SELECT 1", id="fence_postgresql"),
        pytest.param("```SQL SELECT 1```", "SELECT 1", id="fence_on_one_line"),
        pytest.param("```sql\nSELECT 1", "SELECT 1", id="unclosed_fence"),
        pytest.param("Sure:\n```sql\nSELECT 1\n```\nIt counts.", "SELECT 1", id="prose_around"),
        pytest.param("The query is: SELECT 1", "SELECT 1", id="prose_before"),
        pytest.param("<think>SELECT 9</think>SELECT 1", "SELECT 1", id="thinking"),
        pytest.param(
            "<think>```sql\nSELECT 9\n```</think>\nSELECT 1", "SELECT 1", id="fence_inside"
        ),
        pytest.param("<think>SELECT 9", "", id="unclosed_thinking"),
        pytest.param("```sql\nSELECT 1\n```\n```sql\nSELECT 2\n```", "SELECT 1", id="first_of_two"),
        pytest.param(
            "```sql\nWITH a AS (SELECT 1) SELECT * FROM a\n```",
            "WITH a AS (SELECT 1) SELECT * FROM a",
            id="cte",
        ),
        pytest.param("```sql\n-- count\nSELECT 1\n```", "SELECT 1", id="comment_first"),
        pytest.param("SELECT ';'", "SELECT ';'", id="semicolon_in_text"),
        pytest.param("I cannot do this.", "", id="none"),
        pytest.param("", "", id="empty"),
        pytest.param("DELETE FROM t", "", id="no_query"),
    ],
)
def test_the_query_is_found(text: str, sql: str) -> None:
    assert extract_sql(text) == sql


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("select a from t", "SELECT A FROM T"),
        ("SELECT a\n  FROM t", "SELECT a FROM t"),
        ("SELECT a FROM t -- all", "SELECT /* x */ a FROM t"),
        ("SELECT a FROM t WHERE b <> 1", "SELECT a FROM t WHERE b != 1"),
        ("not  sql (", "not sql ("),
    ],
    ids=["case", "space", "comments", "operator_spelling", "unparsable_space"],
)
def test_spellings_of_one_query_share_their_normal_form(left: str, right: str) -> None:
    assert normal_form(left) == normal_form(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("SELECT a FROM t", "SELECT b FROM t"),
        ('SELECT "A" FROM t', "SELECT a FROM t"),
        ("SELECT 'A' FROM t", "SELECT 'a' FROM t"),
        ("SELECT a FROM t", "SELECT a FROM t LIMIT 1"),
    ],
    ids=["column", "quoted_capitals", "text", "limit"],
)
def test_different_queries_keep_different_normal_forms(left: str, right: str) -> None:
    assert normal_form(left) != normal_form(right)


def test_a_query_too_deep_to_parse_still_has_a_normal_form() -> None:
    deep = f"SELECT {'(' * 2000}1{')' * 2000}"
    assert normal_form(f"{deep}  ") == deep
