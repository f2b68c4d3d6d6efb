"""A whole database in which everything that one principal may not see bears a mark.

Cells of rows that the principal does not see, and of columns hidden or masked, are overwritten:
texts with ``MARK`` in front, numbers with values from ``NUMBERS``, which no cell has otherwise. A
result or an error that holds one of them has leaked. What is left alone: see ``hidden_cells.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import psycopg
from psycopg import sql

from execution.postgres.embedded import EmbeddedServer
from tests.oracle.grants import Grants
from tests.oracle.hidden_cells import HiddenCells
from tests.oracle.outcomes import Outcome
from tests.oracle.postgres_copies import Relation, copy_database, drop_constraints, open_superuser

MARK = "zqxmark"
NUMBERS = range(1_900_000_000, 2_000_000_000)

_MARKS = {
    "text": f"'{MARK}' || t.ctid::text || {{}}",
    "int4": "{number}",
    "int8": "{number}",
    "numeric": "{number}",
    "float8": "{number}",
}
# So many digits a numeric must have for one of these numbers, its decimals included.
_MARK_DIGITS = 13
# A number for each row: its block and its place in there.
_NUMBER = f"({NUMBERS.start} + (t.ctid::text::point)[0]::int * 300 + (t.ctid::text::point)[1]::int)"


def build_marked(server: EmbeddedServer, source: str, name: str, roles: Sequence[Grants]) -> None:
    """Makes the database ``name`` out of ``source``, which must have no connections.

    Raises psycopg.Error.
    """
    copy_database(server, source, name)
    with open_superuser(server, name) as connection:
        with connection.transaction():
            _mark_rows(connection, roles)
        connection.execute("VACUUM ANALYZE")


def has_mark(outcome: Outcome) -> bool:
    """Whether a mark stands in a row or in an error's text."""
    return MARK in outcome.message or any(_is_marked(cell) for row in outcome.rows for cell in row)


def _is_marked(cell: object) -> bool:
    if isinstance(cell, str):
        return MARK in cell
    if isinstance(cell, Decimal) and cell.is_nan():
        # Which cannot be compared.
        return False
    if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool):
        return NUMBERS.start <= cell < NUMBERS.stop
    if isinstance(cell, list | tuple):
        return any(map(_is_marked, cell))
    return isinstance(cell, dict) and any(map(_is_marked, cell.values()))


def _mark_rows(connection: psycopg.Connection[Any], roles: Sequence[Grants]) -> None:
    cells = HiddenCells(connection, roles)
    # All of them before the first change, since parents decide about other tables.
    statements = [
        statement
        for table in cells.tables
        if table.name not in cells.spared and (statement := _render_marks(cells, table))
    ]
    connection.execute("SET LOCAL session_replication_role = replica")
    for table in cells.tables:
        drop_constraints(connection, table, kinds="cu")
    for statement in statements:
        connection.execute(statement)


def _render_marks(cells: HiddenCells, table: Relation) -> sql.Composed | None:
    changes = []
    for column, seen in cells.list_hidden(table):
        digits = (column.modifier - 4) >> 16 if column.kind == "numeric" else 0
        if column.kind in _MARKS and (column.modifier == -1 or digits >= _MARK_DIGITS):
            value = sql.Identifier("t", column.name)
            mark = sql.SQL(_MARKS[column.kind].replace("{number}", _NUMBER)).format(value)
            name = sql.Identifier(column.name)
            changes.append(
                sql.SQL("{} = CASE WHEN {} THEN {} ELSE {} END").format(name, seen, value, mark)
            )
    if not changes:
        return None
    return sql.SQL("UPDATE {} AS t SET {}").format(table.identifier, sql.SQL(", ").join(changes))
