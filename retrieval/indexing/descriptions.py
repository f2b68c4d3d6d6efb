"""Descriptions from outside the database, used for tables and columns without a comment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from nl2sql.catalog import Catalog, Table


def describe_catalog(catalog: Catalog, descriptions: Mapping[str, str]) -> Catalog:
    """The catalog with ``descriptions`` in place of missing comments.

    Keys are ``table`` or ``table.column`` in any case; unknown keys are ignored.

    >>> from nl2sql.catalog import Column
    >>> shop = Catalog("shop", (Table("main", "Orders", (Column("Amt", "REAL"),)),))
    >>> describe_catalog(shop, {"orders.amt": "in euros"}).tables[0].columns[0].comment
    'in euros'
    """
    if not descriptions:
        return catalog
    known = {key.lower(): " ".join(text.split()) for key, text in descriptions.items()}
    return replace(catalog, tables=tuple(_describe(table, known) for table in catalog.tables))


def _describe(table: Table, known: Mapping[str, str]) -> Table:
    name = table.name.lower()
    return replace(
        table,
        comment=table.comment or known.get(name, ""),
        columns=tuple(
            replace(
                column, comment=column.comment or known.get(f"{name}.{column.name.lower()}", "")
            )
            for column in table.columns
        ),
    )
