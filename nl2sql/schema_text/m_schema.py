"""The M-Schema form (Gao et al. 2024, XiYan-SQL, arXiv:2411.08599): one line for each column.

``(name:TYPE, comment, Primary Key, Examples: [a, b])``, and the keys between all tables at the end.
Names are quoted as SQL requires, so that the model can copy them. A column's examples are the
values in its gloss (``values: 'a', 'b'``). Cell values that the question names are written with the
question, so that the schema text is the same for every question.
"""

from __future__ import annotations

from nl2sql.catalog import Column, ForeignKey, Table
from nl2sql.schema_text.pieces import SchemaText, TableText
from nl2sql.schema_text.view import SchemaView
from nl2sql.types import VALUES_MARK


def build_m_schema(view: SchemaView) -> SchemaText:
    """The view as M-Schema, under the name of its database."""
    lines = [_render_key(view, key) for key in view.keys]
    return SchemaText(
        tables=tuple(_build_table(view, table) for table in view.tables),
        opening=f"【DB_ID】 {view.database}\n【Schema】\n",
        closing="\n".join(["【Foreign keys】", *lines, ""]) if lines else "",
    )


def _build_table(view: SchemaView, table: Table) -> TableText:
    name = view.name(table.qualified)
    title = ", ".join((name, *view.describe(table.qualified, table.comment)))
    return TableText(
        table=table.qualified,
        head=f"# Table: {title}\n[\n",
        columns=tuple(
            (column.name, _render_column(view, table, column)) for column in view.columns_of(table)
        ),
        separator=",\n",
        tail="\n]\n",
    )


def _render_column(view: SchemaView, table: Table, column: Column) -> str:
    name, kind = view.quote(column.name), view.type_of(column)
    # The brackets of a type may hold values, whose case matters.
    word, bracket, rest = kind.partition("(")
    facts = [f"{name}:{word.upper()}{bracket}{rest}" if kind else name]
    notes = view.describe(f"{table.qualified}.{column.name}", column.comment)
    facts += [note for note in notes if not note.startswith(VALUES_MARK)]
    if column.name in table.primary_key:
        facts.append("Primary Key")
    facts += [
        f"Examples: [{note.removeprefix(VALUES_MARK)}]"
        for note in notes
        if note.startswith(VALUES_MARK)
    ]
    return f"({', '.join(facts)})"


def _render_key(view: SchemaView, key: ForeignKey) -> str:
    """One line for the key; a composite key has all its columns on it."""
    source, target = view.name(key.table), view.name(key.target)
    pairs = " AND ".join(
        f"{source}.{view.quote(column)}={target}.{view.quote(other)}"
        for column, other in zip(key.columns, key.target_columns, strict=True)
    )
    return f"{pairs} (likely)" if key.inferred else pairs
