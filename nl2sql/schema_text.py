"""Renders the retrieved part of a schema for a model, as compact DDL with comments.

Tables come in name order, whatever their rank, so that similar questions share a prefix. When the
text would be longer than the budget, the tables of the lowest rank go first.
"""

from __future__ import annotations

from nl2sql.catalog import Column, ForeignKey, Table
from nl2sql.names import quote_name
from nl2sql.types import SchemaContext

_MOST_COLUMNS = 60
_LONGEST_COMMENT = 240


def render_schema(context: SchemaContext, *, comments: bool = True, budget_chars: int) -> str:
    """``CREATE TABLE`` statements for as many tables, best first, as fit into the budget."""
    names = {
        hit.table.qualified: name for hit, name in zip(context.tables, context.names, strict=True)
    }
    chosen: dict[str, str] = {}
    room = budget_chars
    for hit in context.tables:
        keys = [key for key in context.foreign_keys if key.table == hit.table.qualified]
        text = _render_table(hit.table, names, keys, comments, context.dialect)
        if len(text) > room and chosen:
            break
        room -= len(text)
        chosen[hit.table.qualified] = text
    return "\n".join(chosen[name] for name in sorted(chosen))


def _render_table(
    table: Table, names: dict[str, str], keys: list[ForeignKey], comments: bool, dialect: str
) -> str:
    def quote(columns: tuple[str, ...]) -> str:
        return ", ".join(quote_name(column, dialect) for column in columns)

    targets = {
        key.columns[0]: f"{names[key.target]}({quote(key.target_columns)})"
        for key in reversed(keys)
        if len(key.columns) == 1
    }
    kept = {*table.primary_key, *(column for key in keys for column in key.columns)}
    columns = [
        column
        for position, column in enumerate(table.columns)
        if position < _MOST_COLUMNS or column.name in kept
    ]
    lines = [_render_column(column, table, targets, comments, dialect) for column in columns]
    if len(table.primary_key) > 1:
        lines.append(f"  PRIMARY KEY ({quote(table.primary_key)})")
    lines += [
        f"  FOREIGN KEY ({quote(key.columns)}) REFERENCES "
        f"{names[key.target]}({quote(key.target_columns)})"
        for key in keys
        if len(key.columns) > 1
    ]
    comment = f" -- {_shorten(table.comment)}" if comments and table.comment else ""
    return f"CREATE TABLE {names[table.qualified]} ({comment}\n" + "\n".join(lines) + "\n);"


def _render_column(
    column: Column, table: Table, targets: dict[str, str], comments: bool, dialect: str
) -> str:
    parts = [f"  {quote_name(column.name, dialect)} {column.type}".rstrip()]
    if table.primary_key == (column.name,):
        parts.append("PRIMARY KEY")
    if column.name in targets:
        parts.append(f"REFERENCES {targets[column.name]}")
    text = " ".join(parts) + ","
    return f"{text} -- {_shorten(column.comment)}" if comments and column.comment else text


def _shorten(comment: str) -> str:
    text = " ".join(comment.split())
    return text if len(text) <= _LONGEST_COMMENT else text[: _LONGEST_COMMENT - 1] + "…"
