"""The names-only form, one line for each table: many tables in few tokens."""

from __future__ import annotations

from nl2sql.schema_text.pieces import SchemaText, TableText
from nl2sql.schema_text.view import SchemaView


def build_names_only(view: SchemaView) -> SchemaText:
    """The view as ``table(column, column)``."""
    return SchemaText(
        tuple(
            TableText(
                table=table.qualified,
                head=f"{view.name(table.qualified)}(",
                # Tokenizers join a space to the following name.
                columns=tuple(
                    (column.name, (" " if place else "") + view.quote(column.name))
                    for place, column in enumerate(view.columns_of(table))
                ),
                separator=",",
                tail=")\n",
            )
            for table in view.tables
        )
    )
