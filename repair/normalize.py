"""Reads a query as another dialect and writes it in the target's, by sqlglot.

Models mix dialects. A query that the target refuses may be good MySQL, SQLite or T-SQL. A reading
that loses a column or a number of the query was the wrong one: other dialects give other meanings
to the same function.
"""

from __future__ import annotations

import re

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from nl2sql.sql_text import normal_form

# In the order in which small models stray.
_SOURCES = ("mysql", "postgres", "sqlite", "tsql", "bigquery", "oracle")
_NUMBER = re.compile(r"\d+")
# As a bare argument of a date function these look like columns to a dialect that has it otherwise.
_UNITS = frozenset({"second", "minute", "hour", "day", "week", "month", "quarter", "year"})


def normalize_dialect(sql: str, target: str = "postgres") -> str | None:
    """The query in the target's dialect, or None when no other reading changes it.

    >>> normalize_dialect("SELECT `name` FROM `users`")
    'SELECT "name" FROM "users"'
    >>> normalize_dialect("SELECT name FROM users")
    """
    before = normal_form(sql, target)
    for source in _SOURCES:
        if source == target:
            continue
        rendered = _transpile(sql, source, target)
        if not rendered or not _keeps_everything(sql, rendered, target):
            continue
        if normal_form(rendered, target) != before:
            return rendered
    return None


def _transpile(sql: str, source: str, target: str) -> str:
    """The query read as ``source``; empty when it is not one statement of it."""
    try:
        trees = sqlglot.parse(sql, dialect=source)
        if len(trees) != 1 or trees[0] is None:
            return ""
        if "NULLS" not in sql.upper():
            # Where NULLs come is the target's own business, unless the query says so.
            for ordered in trees[0].find_all(exp.Ordered):
                ordered.set("nulls_first", bool(ordered.args.get("desc")))
        return trees[0].sql(target, comments=False, unsupported_level=ErrorLevel.RAISE)
    except (SqlglotError, RecursionError):
        return ""


def _keeps_everything(sql: str, rendered: str, target: str) -> bool:
    """False when a number, or a column as the target reads the query, is gone."""
    if not set(_NUMBER.findall(sql)) <= set(_NUMBER.findall(rendered)):
        return False
    try:
        asked = sqlglot.parse_one(sql, dialect=target)
        given = sqlglot.parse_one(rendered, dialect=target)
    except (SqlglotError, RecursionError):
        return True
    # What stands in double quotes is text to other dialects; a Var is a bare word in a function.
    names = {column.name for column in asked.find_all(exp.Column) if not column.this.quoted}
    names |= {word.name for word in asked.find_all(exp.Var)}
    kept = {column.name.lower() for column in given.find_all(exp.Column)}
    return {name.lower() for name in names} - kept <= _UNITS
