"""Renders parts of the schema for linking by the model."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from nl2sql.catalog import Column, Table
from nl2sql.sql.names import quote_name
from nl2sql.types import SchemaContext

_LONGEST_COMMENT = 120


def keep_tables(context: SchemaContext, tables: Collection[str]) -> SchemaContext:
    """The context with only these tables (qualified names) and the keys between them."""
    kept = [
        (hit, name)
        for hit, name in zip(context.tables, context.names, strict=True)
        if hit.table.qualified in tables
    ]
    return replace(
        context,
        tables=tuple(hit for hit, _ in kept),
        names=tuple(name for _, name in kept),
        foreign_keys=tuple(
            key for key in context.foreign_keys if key.table in tables and key.target in tables
        ),
    )


def render_column(table: Table, name: str, column: Column, dialect: str) -> str:
    """A column with its type and comments; ``name`` is the table's name in SQL.

    >>> orders = Table("sales", "orders", (Column("total", "money"),), comment="What was bought")
    >>> render_column(orders, "sales.orders", orders.columns[0], "postgres")
    'sales.orders.total money -- What was bought'
    """
    text = f"{name}.{quote_name(column.name, dialect)} {column.type}".rstrip()
    comments = [_shorten(comment) for comment in (column.comment, table.comment) if comment]
    return " -- ".join([text, *comments])


def _shorten(comment: str) -> str:
    text = " ".join(comment.split())
    return text if len(text) <= _LONGEST_COMMENT else text[: _LONGEST_COMMENT - 1] + "…"
