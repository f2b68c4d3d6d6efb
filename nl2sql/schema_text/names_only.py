"""The names-only form, a line a table: a wide view for few tokens."""

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
                # The space is the next name's: that is how tokenizers split.
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
