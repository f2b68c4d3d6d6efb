"""A date compared with text that is not a date."""

from __future__ import annotations

import re

from nl2sql.sql.column_kinds import TIMES
from nl2sql.types import Finding
from ranking.lint.comparisons import list_literal_comparisons
from ranking.query import Query

# ISO 8601 as all three databases write it, also a year or month alone; and a time of day.
_DATE = re.compile(r"\s*(\d{4}(-\d{1,2}(-\d{1,2}([T ]\d.*)?)?)?|\d{1,2}:\d{2}.*)\s*")


def date_compared_with_text(query: Query) -> Finding | None:
    """An error if a date or time is compared with a text that is not in ISO 8601.

    PostgreSQL reads other forms too, but depending on a setting of the session.

    >>> from nl2sql.catalog import Column, Table
    >>> from ranking.query import read_query
    >>> orders = Table("s", "orders", (Column("placed", "timestamp"),))
    >>> sql = "SELECT 1 FROM orders WHERE placed > 'last month'"
    >>> date_compared_with_text(read_query(sql, "postgres", [orders])).rule
    'date_compared_with_text'
    """
    for column, literal in list_literal_comparisons(query.tree):
        use = query.resolve(column)
        if (
            use
            and query.kind_of(use) in TIMES
            and literal.is_string
            and not _DATE.fullmatch(literal.this)
        ):
            message = f"{column.sql()} is a date and is compared with {literal.sql()}."
            return Finding("date_compared_with_text", "error", message)
    return None
