"""The DDL form: ``CREATE TABLE`` with keys, comments after ``--``.

Keys that were inferred are told as comments: a model must not take them for promises.
"""

from __future__ import annotations

from nl2sql.catalog import Column, ForeignKey, Table
from nl2sql.schema_text.pieces import SchemaText, TableText
from nl2sql.schema_text.view import SchemaView, shorten


def build_ddl(view: SchemaView) -> SchemaText:
    """The view as compact DDL; a key is told in the table that holds it."""
    keys: dict[str, list[ForeignKey]] = {}
    for key in view.keys:
        keys.setdefault(key.table, []).append(key)
    return SchemaText(
        tuple(_build_table(view, table, keys.get(table.qualified, [])) for table in view.tables)
    )


def _build_table(view: SchemaView, table: Table, keys: list[ForeignKey]) -> TableText:
    single = {key.columns[0]: key for key in reversed(keys) if len(key.columns) == 1}
    return TableText(
        table=table.qualified,
        head=f"CREATE TABLE {view.name(table.qualified)} ("
        + _render_comment(view.describe(table.qualified, table.comment))
        + "\n",
        columns=tuple(
            (column.name, _render_column(view, table, column, single.get(column.name)))
            for column in view.columns_of(table)
        ),
        separator="\n",
        tail="".join(f"\n  {line}" for line in _render_constraints(view, table, keys)) + "\n);\n",
    )


def _render_column(view: SchemaView, table: Table, column: Column, key: ForeignKey | None) -> str:
    parts = [f"  {view.quote(column.name)} {view.type_of(column)}".rstrip()]
    notes = view.describe(f"{table.qualified}.{column.name}", column.comment)
    if table.primary_key == (column.name,):
        parts.append("PRIMARY KEY")
    if key is not None:
        target = _render_target(view, key)
        if key.inferred:
            notes = (f"likely references {shorten(target)}", *notes)
        else:
            parts.append(f"REFERENCES {target}")
    return " ".join(parts) + "," + _render_comment(notes)


def _render_constraints(view: SchemaView, table: Table, keys: list[ForeignKey]) -> list[str]:
    shown = {column.name for column in view.columns_of(table)}
    lines = []
    if len(table.primary_key) > 1 and shown.issuperset(table.primary_key):
        lines.append(f"PRIMARY KEY ({view.quote_list(table.primary_key)})")
    for key in keys:
        if len(key.columns) > 1:
            columns, target = view.quote_list(key.columns), _render_target(view, key)
            lines.append(
                f"-- {shorten(f'({columns}) likely references {target}')}"
                if key.inferred
                else f"FOREIGN KEY ({columns}) REFERENCES {target}"
            )
    return lines


def _render_target(view: SchemaView, key: ForeignKey) -> str:
    return f"{view.name(key.target)}({view.quote_list(key.target_columns)})"


def _render_comment(notes: tuple[str, ...]) -> str:
    return f" -- {'; '.join(notes)}" if notes else ""
