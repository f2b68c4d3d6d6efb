"""The queries of key inference, the same for all kinds of database.

A query reads at most a few thousand rows, chosen by the database, and stops after two seconds, so
that huge or slow tables cost little. All run as the role that runs questions, so nothing is
inferred from data that it may not read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nl2sql.catalog import Table
from nl2sql.errors import DatabaseUnavailable
from nl2sql.sql.names import enquote
from retrieval.introspection.source_database import Containment

_MOST_ROWS = 5000
_MOST_VALUES = 200
TIMEOUT_S = 2.0

_Run = Callable[[str], tuple[Any, ...] | None]


class SqlSampler:
    """A sampler whose ``run`` returns the only row of a query, or None if it failed."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    def contain(
        self, table: Table, columns: tuple[str, ...], target: Table, target_columns: tuple[str, ...]
    ) -> Containment | None:
        """See ``retrieval.introspection.source_database.Sampler``."""
        row = self._run(write_containment(table, columns, target, target_columns))
        return Containment(row[0], row[1]) if row is not None else None

    def is_unique(self, table: Table, columns: tuple[str, ...]) -> bool:
        """See ``retrieval.introspection.source_database.Sampler``."""
        row = self._run(write_uniqueness(table, columns))
        return row is not None and row[0] > 0 and row[0] == row[1]


def write_containment(
    table: Table, columns: tuple[str, ...], target: Table, target_columns: tuple[str, ...]
) -> str:
    """Counts the distinct values of some rows, and those of them that the target contains.

    The query is valid on all three kinds of database; only quoted names are inserted.
    """
    names = ", ".join(enquote(column) for column in columns)
    present = " AND ".join(f"{enquote(column)} IS NOT NULL" for column in columns)
    equal = " AND ".join(
        f"t.{enquote(theirs)} = v.{enquote(mine)}"
        for mine, theirs in zip(columns, target_columns, strict=True)
    )
    rows = f"SELECT {names} FROM {_quote_table(table)} WHERE {present} LIMIT {_MOST_ROWS}"
    values = f"SELECT DISTINCT {names} FROM ({rows}) AS r LIMIT {_MOST_VALUES}"
    found = f"EXISTS (SELECT 1 FROM {_quote_table(target)} AS t WHERE {equal})"
    return (
        f"SELECT count(*), coalesce(sum(p.found), 0) FROM ("
        f"SELECT CASE WHEN {found} THEN 1 ELSE 0 END AS found FROM ({values}) AS v) AS p"
    )


def write_uniqueness(table: Table, columns: tuple[str, ...]) -> str:
    """Counts some rows, and their distinct values without NULL."""
    names = ", ".join(enquote(column) for column in columns)
    present = " AND ".join(f"{enquote(column)} IS NOT NULL" for column in columns)
    rows = f"SELECT {names} FROM {_quote_table(table)} LIMIT {_MOST_ROWS}"
    return (
        f"SELECT (SELECT count(*) FROM ({rows}) AS a), "
        f"(SELECT count(*) FROM (SELECT DISTINCT {names} FROM ({rows}) AS b WHERE {present}) AS c)"
    )


def _quote_table(table: Table) -> str:
    return f"{enquote(table.schema)}.{enquote(table.name)}"


def build_unavailable(database: str, error: Exception) -> DatabaseUnavailable:
    """The error for a database that cannot be sampled."""
    reason = (str(error).strip() or type(error).__name__).split("\n", 1)[0]
    return DatabaseUnavailable(f"Cannot sample {database}: {reason}", database=database)
