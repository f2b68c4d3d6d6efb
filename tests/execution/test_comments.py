"""Comments go, what only looks like one stays."""

from __future__ import annotations

import pytest

from execution.comments import strip_comments

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
    "dollar_quotes": ("SELECT $$ -- $$ -- x", "SELECT $$ -- $$  "),
    "tagged_dollar_quotes": ("SELECT $a$ -- $$ $a$ -- x", "SELECT $a$ -- $$ $a$  "),
    "unclosed": ("SELECT 1 /* a", "SELECT 1 /* a"),
}


@pytest.mark.parametrize(("sql", "expected"), CASES.values(), ids=CASES)
def test_a_comment_becomes_a_space(sql: str, expected: str) -> None:
    assert strip_comments(sql, "postgres") == expected


def test_comments_of_sqlite_do_not_nest() -> None:
    assert strip_comments("SELECT /* a /* b */ 1", "sqlite") == "SELECT   1"
