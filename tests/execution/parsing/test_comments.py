"""Comments go, what only looks like one stays."""

from __future__ import annotations

import pytest

from execution.parsing.comments import find_odd_space, strip_comments

CASES = {
    "none": ("SELECT 1", "SELECT 1"),
    "line": ("SELECT 1 -- one\n+ 1", "SELECT 1  \n+ 1"),
    "carriage_return_ends_a_line": ("SELECT 1 -- a\r+ 1", "SELECT 1  \r+ 1"),
    "block": ("SELECT /* a */ 1", "SELECT   1"),
    "between_two_words": ("ORDER/**/BY x", "ORDER BY x"),
    "nested": ("SELECT /* a /* b */ c */ 1", "SELECT   1"),
    "in_a_string": ("SELECT '-- /*' -- x", "SELECT '-- /*'  "),
    "in_a_name": ('SELECT "-- /*" -- x', 'SELECT "-- /*"  '),
    "quote_in_a_string": ("SELECT 'it''s -- no' -- x", "SELECT 'it''s -- no'  "),
    "backslash_ends_no_string": (r"SELECT '\' -- x", r"SELECT '\'  "),
    "backslash_in_an_escape_string": (r"SELECT E'\' -- x'", r"SELECT E'\' -- x'"),
    "a_keyword_before_a_string": (r"SELECT ELSE'\', '/*', '*/'", r"SELECT ELSE'\', '/*', '*/'"),
    "a_name_before_a_string": (r"€e'\', '--'", r"€e'\', '--'"),
    "a_name_that_ends_in_dollars": ("a$$, ' $$ -- '", "a$$, ' $$ -- '"),
    "dollar_quotes": ("SELECT $$ -- $$ -- x", "SELECT $$ -- $$  "),
    "tagged_dollar_quotes": ("SELECT $a$ -- $$ $a$ -- x", "SELECT $a$ -- $$ $a$  "),
    "unclosed": ("SELECT 1 /* a", "SELECT 1 /* a"),
}


@pytest.mark.parametrize(("sql", "expected"), CASES.values(), ids=CASES)
def test_a_comment_becomes_spaces(sql: str, expected: str) -> None:
    stripped = strip_comments(sql, "postgres")
    assert stripped.split() == expected.split()
    # So that places in the text stay.
    assert len(stripped) == len(sql)


def test_comments_of_sqlite_do_not_nest() -> None:
    assert strip_comments("SELECT /* a /* b */ 1", "sqlite").split() == ["SELECT", "1"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS [it's], '--\n' AS y, ']' AS \"'\"",
        "SELECT 1 AS [--], 2 AS x",
        "SELECT 'x' LIKE'\\', '/*' AS b, '*/' AS c",
        "SELECT e'\\', '/*' AS b, '*/' AS c",
        "SELECT $$, ' $$ -- '",
    ],
)
def test_sqlite_has_names_in_brackets_and_neither_escapes_nor_dollar_quotes(sql: str) -> None:
    assert strip_comments(sql, "sqlite") == sql


def test_a_bracket_is_a_quote_on_sqlite_alone() -> None:
    assert strip_comments("a['--', /* b */ 1]", "postgres") == "a['--',         1]"
    assert find_odd_space("1 AS [\u3000]", "sqlite") == ""
    assert find_odd_space("1 AS [\u3000]", "postgres") == "\u3000"
