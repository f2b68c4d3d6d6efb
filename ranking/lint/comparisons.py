"""Comparisons with something else than the column holds."""

from __future__ import annotations

import re

from sqlglot import exp

from nl2sql.sql.column_kinds import NUMBERS
from nl2sql.types import Finding
from ranking.conditions import list_conditions, list_texts
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
    for condition in list_conditions(query):
        use, literal = condition.use, condition.literal
        if (
            use
            and query.kind_of(use) in NUMBERS
            and literal.is_string
            and not _NUMBER.fullmatch(literal.this)
            and not isinstance(condition.node, exp.Like | exp.ILike)
        ):
            compared = condition.subject.sql()
            message = f"{compared} holds numbers and is compared with {literal.sql()}."
            return Finding("number_compared_with_text", "error", message)
    return None


# "OPN = open, CNF = confirmed".
_CODE = re.compile(r"(?<![\w'])([A-Za-z0-9][A-Za-z0-9_-]{0,11}) = ")
_FEWEST = 2


def unlisted_code(query: Query) -> Finding | None:
    """An error for a text compared by = or IN with a column whose comment lists other codes.

    >>> from nl2sql.catalog import Column, Table
    >>> from ranking.query import read_query
    >>> status = Column("status", "text", comment="Status: OPN = open, SHP = shipped in full")
    >>> sql = "SELECT 1 FROM orders WHERE status = 'ORDERED'"
    >>> unlisted_code(read_query(sql, "postgres", [Table("s", "orders", (status,))])).message
    "orders.status has the codes OPN and SHP, not 'ORDERED'."
    """
    for use, text in list_texts(query):
        codes = list(dict.fromkeys(_CODE.findall(use.column.comment)))
        if len(codes) >= _FEWEST and text not in codes:
            listed = f"{', '.join(codes[:-1])} and {codes[-1]}"
            written = exp.Literal.string(text).sql()
            message = f"{use.table.name}.{use.column.name} has the codes {listed}, not {written}."
            return Finding("unlisted_code", "error", message)
    return None
