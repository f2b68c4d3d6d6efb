"""Writes a schema as ``CREATE TABLE`` with keys, and comments after ``--``.

Inferred keys are written as comments, so that the model does not take them for constraints.
"""

from __future__ import annotations

from nl2sql.catalog import Column, ForeignKey, Table
from nl2sql.schema_text.view import SchemaView, shorten
from nl2sql.types import SchemaContext


def render_view(view: SchemaView) -> str:
    """Renders the view as compact DDL; in a brief one, a table without notes takes one line.

    A key is written in the table that holds it. A key from a shared table to another is written at
    the end: the text of shared tables must be the same for every question.
    """
    keys: dict[str, list[ForeignKey]] = {}
    outward = []
    for key in view.keys:
        if view.is_shared(key.table) and not view.is_shared(key.target):
            outward.append(_render_outward(view, key))
        else:
            keys.setdefault(key.table, []).append(key)
    tables = [_render_table(view, table, keys.get(table.qualified, [])) for table in view.tables]
    return "\n".join((*tables, *(f"-- {shorten(line)}" for line in outward)))


def _render_table(view: SchemaView, table: Table, keys: list[ForeignKey]) -> str:
    if view.is_short(table.qualified):
        return _render_short_table(view, table, keys)
    single = {key.columns[0]: key for key in reversed(keys) if len(key.columns) == 1}
    comment = view.describe(table.qualified, table.comment)
    columns = [
        _render_column(view, table, column, single.get(column.name))
        for column in view.columns_of(table)
    ]
    constraints = _render_constraints(view, table, keys)
    head = f"CREATE TABLE {view.name(table.qualified)} ("
    if view.is_brief and not comment and not any(notes for _, notes in columns):
        inside = (*(text for text, _ in columns), *(line for line, _ in constraints if line))
        notes = _render_comment(tuple(note for _, note in constraints if note))
        return f"{head}{', '.join(inside)});{notes}"
    lines = [
        head + _render_comment(comment),
        *(f" {text},{_render_comment(notes)}" for text, notes in columns),
        *(f" {line or f'-- {note}'}" for line, note in constraints),
    ]
    return "\n".join((*lines, ");"))


def _render_short_table(view: SchemaView, table: Table, keys: list[ForeignKey]) -> str:
    """The names of the columns on one line, and the targets that these names do not tell."""
    targets = {
        key.columns[0]: f" REFERENCES {_render_target(view, key)}"
        for key in keys
        if len(key.columns) == 1 and key.columns != key.target_columns and not key.inferred
    }
    columns = (
        view.quote(column.name) + targets.get(column.name, "") for column in view.columns_of(table)
    )
    return f"CREATE TABLE {view.name(table.qualified)} ({', '.join(columns)});"


def _render_column(
    view: SchemaView,
    table: Table,
    column: Column,
    key: ForeignKey | None,
) -> tuple[str, tuple[str, ...]]:
    """The column's definition and its notes."""
    parts = [f"{view.quote(column.name)} {view.type_of(column)}".rstrip()]
    notes = view.describe(f"{table.qualified}.{column.name}", column.comment)
    if table.primary_key == (column.name,):
        parts.append("PRIMARY KEY")
    if key is not None:
        target = _render_target(view, key)
        if key.inferred:
            notes = (f"likely references {shorten(target)}", *notes)
        else:
            parts.append(f"REFERENCES {target}")
    return " ".join(parts), notes


def _render_constraints(
    view: SchemaView, table: Table, keys: list[ForeignKey]
) -> list[tuple[str, str]]:
    """Pairs of the constraint's SQL and a note, one of which is empty."""
    shown = {column.name for column in view.columns_of(table)}
    lines = []
    if len(table.primary_key) > 1 and shown.issuperset(table.primary_key):
        lines.append((f"PRIMARY KEY ({view.quote_list(table.primary_key)})", ""))
    for key in keys:
        if len(key.columns) > 1:
            columns, target = view.quote_list(key.columns), _render_target(view, key)
            lines.append(
                ("", shorten(f"({columns}) likely references {target}"))
                if key.inferred
                else (f"FOREIGN KEY ({columns}) REFERENCES {target}", "")
            )
    return lines


def _render_outward(view: SchemaView, key: ForeignKey) -> str:
    columns = ", ".join(f"{view.name(key.table)}.{view.quote(column)}" for column in key.columns)
    return f"{columns} {'likely ' if key.inferred else ''}references {_render_target(view, key)}"


def _render_target(view: SchemaView, key: ForeignKey) -> str:
    """The table and its columns; a brief view omits columns named as the key's own."""
    name = view.name(key.target)
    if view.is_brief and key.columns == key.target_columns:
        return name
    return f"{name}({view.quote_list(key.target_columns)})"


def _render_comment(notes: tuple[str, ...]) -> str:
    return f" -- {'; '.join(notes)}" if notes else ""


def render_schema(
    context: SchemaContext,
    *,
    comments: bool = True,
    columns: tuple[tuple[str, tuple[str, ...]], ...] = (),
) -> str:
    """Renders the whole context, however long; ``columns`` as in ``Plan.columns``."""
    return render_view(SchemaView(context, dict(columns), comments=comments))
