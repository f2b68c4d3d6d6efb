"""A number compared with a word."""

from __future__ import annotations

import re

from nl2sql.sql.column_kinds import NUMBERS
from nl2sql.types import Finding
from ranking.lint.comparisons import list_literal_comparisons
from ranking.query import Query

_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*", re.IGNORECASE)


def number_compared_with_text(query: Query) -> Finding | None:
    """An error if a column of numbers is compared with text that is not a number.

    PostgreSQL and DuckDB refuse it; SQLite silently finds nothing. Usually the column is a foreign
    key, and the name is a value of the referenced table.

    >>> from nl2sql.catalog import Column, Table
    >>> from ranking.query import read_query
    >>> flights = Table("main", "flights", (Column("airline", "INTEGER"),))
    >>> sql = "SELECT 1 FROM flights WHERE airline = 'JetBlue'"
    >>> number_compared_with_text(read_query(sql, "sqlite", [flights])).message
    "airline holds numbers and is compared with 'JetBlue'."
    """
    for column, literal in list_literal_comparisons(query.tree):
        use = query.resolve(column)
        if (
            use
            and query.kind_of(use) in NUMBERS
            and literal.is_string
            and not _NUMBER.fullmatch(literal.this)
        ):
            message = f"{column.sql()} holds numbers and is compared with {literal.sql()}."
            return Finding("number_compared_with_text", "error", message)
    return None
