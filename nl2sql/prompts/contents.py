"""What a prompt holds, and what is taken out of it before it is built: the setting ``model.send``.

Each builder of a prompt reduces its input here and labels the prompt with what is left, measured
from the input and not from the setting. The engine's wrapper
(``generation.engines.checked_engine``) compares the label with the setting again, so that a builder
which forgets to reduce sends nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from nl2sql.catalog import Column, Table
from nl2sql.types import VALUES_MARK, Contents, SchemaContext

_ORDER: Final[tuple[Contents, ...]] = ("schema", "values", "rows")


def may_send(contains: Contents, allowed: Contents) -> bool:
    """Whether a text that holds this may be sent where ``allowed`` is the most.

    >>> may_send("schema", "values"), may_send("rows", "values")
    (True, False)
    """
    return _ORDER.index(contains) <= _ORDER.index(allowed)


def measure_context(context: SchemaContext) -> Contents:
    """``values`` if the context holds a cell value or an example, else ``schema``."""
    holds_values = (
        context.values
        or context.examples
        or any(text.startswith(VALUES_MARK) for _, text in context.glosses)
        or any(_lists_values(hit.table) for hit in context.tables)
    )
    return "values" if holds_values else "schema"


def reduce_context(context: SchemaContext, allowed: Contents) -> SchemaContext:
    """The context without what may not be sent; the same one if all of it may be."""
    if may_send(measure_context(context), allowed):
        return context
    return replace(
        context,
        tables=tuple(
            replace(hit, table=reduce_table(hit.table)) if _lists_values(hit.table) else hit
            for hit in context.tables
        ),
        glosses=tuple(pair for pair in context.glosses if not pair[1].startswith(VALUES_MARK)),
        values=(),
        examples=(),
    )


def reduce_table(table: Table) -> Table:
    """The table without the values that types list: DuckDB's ``ENUM('a', 'b')`` is ``ENUM``.

    An enumeration may have been made from the values of a column.
    """
    return replace(table, columns=tuple(map(_reduce_column, table.columns)))


def _reduce_column(column: Column) -> Column:
    kind, quote, _ = column.type.partition("'")
    return replace(column, type=kind.rpartition("(")[0].rstrip()) if quote else column


def _lists_values(table: Table) -> bool:
    return any("'" in column.type for column in table.columns)
