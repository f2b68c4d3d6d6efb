"""Comments go, what only looks like one stays."""

from __future__ import annotations

import pytest

from execution.parsing.comments import find_odd_space, strip_comments
from tests.golden import load_changes

LINES = (
    ("SELECT 1 -- one\n+ 1", "SELECT 1 + 1"),
    ("SELECT 1 -- a\r+ 1", "SELECT 1 + 1"),
)


@pytest.mark.parametrize(("sql", "expected"), [*load_changes("comments"), *LINES])
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
