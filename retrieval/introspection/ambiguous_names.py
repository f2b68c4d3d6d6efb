"""Removes tables and columns whose full names are ambiguous without quotes.

A table's identity is ``schema.table``, a column's ``schema.table.column``. If names contain dots,
two identities can be equal: the table ``"b.c"`` in ``a``, and ``c`` in ``"a.b"``. A policy, gloss
or cell value could then be applied to the wrong one, so neither is indexed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from nl2sql.catalog import Table
from nl2sql.skipped import Skipped
from nl2sql.sql.names import fold_name, quote_name

_REASON = "its name contains dots and cannot be told from that of another table or column"


def remove_ambiguous(
    tables: Iterable[Table], dialect: str
) -> tuple[tuple[Table, ...], tuple[Skipped, ...]]:
    """The tables and columns with unique full names, and those that were left out.

    >>> from nl2sql.catalog import Column
    >>> x = (Column("x", "int"),)
    >>> kept, skipped = remove_ambiguous(
    ...     [Table("a", "b.c", x), Table("a.b", "c", x), Table("a", "b", x)], "postgres")
    >>> [table.qualified for table in kept], [table.name for table in skipped]
    (['a.b'], ['a."b.c"', '"a.b".c'])
    """
    found = tuple(tables)
    if not any(_has_dot(table) for table in found):
        return found, ()
    names = Counter(
        fold_name(name, dialect)
        for table in found
        for name in (
            table.qualified,
            *(f"{table.qualified}.{column.name}" for column in table.columns),
        )
    )
    kept, skipped = [], []
    for table in found:
        path = f"{quote_name(table.schema, dialect)}.{quote_name(table.name, dialect)}"
        if names[fold_name(table.qualified, dialect)] > 1:
            skipped.append(Skipped(table.kind, path, _REASON))
            continue
        ambiguous = {
            column.name
            for column in table.columns
            if names[fold_name(f"{table.qualified}.{column.name}", dialect)] > 1
        }
        skipped += [
            Skipped("column", f"{path}.{quote_name(name, dialect)}", _REASON)
            for name in sorted(ambiguous)
        ]
        own = tuple(column for column in table.columns if column.name not in ambiguous)
        if own:
            key = table.primary_key if ambiguous.isdisjoint(table.primary_key) else ()
            kept.append(replace(table, columns=own, primary_key=key) if ambiguous else table)
        else:
            skipped.append(Skipped(table.kind, path, "none of its columns is indexed"))
    return tuple(kept), tuple(skipped)


def _has_dot(table: Table) -> bool:
    return (
        "." in table.schema
        or "." in table.name
        or any("." in column.name for column in table.columns)
    )
