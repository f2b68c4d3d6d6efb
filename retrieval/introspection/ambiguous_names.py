"""Removes tables whose full names, or those of a column, are ambiguous without quotes.

A table's identity is ``schema.table``, a column's ``schema.table.column``. If names contain dots,
two identities can be equal: the table ``"b.c"`` in ``a``, and ``c`` in ``"a.b"``. A policy, gloss
or cell value could then be applied to the wrong one, so neither is indexed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from nl2sql.catalog import Skipped, Table
from nl2sql.sql.names import fold_name, quote_name

_REASON = "a name contains dots and cannot be told from that of another table or column"


def remove_ambiguous(
    tables: Iterable[Table], dialect: str
) -> tuple[tuple[Table, ...], tuple[Skipped, ...]]:
    """The tables with unique full names, and those that were left out.

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
    names = {table: _list_names(table, dialect) for table in found}
    counts = Counter(name for own in names.values() for name in own)
    skipped = {
        table: Skipped(
            table.kind,
            f"{quote_name(table.schema, dialect)}.{quote_name(table.name, dialect)}",
            _REASON,
        )
        for table in found
        if any(counts[name] > 1 for name in names[table])
    }
    return tuple(table for table in found if table not in skipped), tuple(skipped.values())


def _list_names(table: Table, dialect: str) -> list[str]:
    columns = (f"{table.qualified}.{column.name}" for column in table.columns)
    return [fold_name(name, dialect) for name in (table.qualified, *columns)]


def _has_dot(table: Table) -> bool:
    return (
        "." in table.schema
        or "." in table.name
        or any("." in column.name for column in table.columns)
    )
