"""Makes a catalog of the tables and keys that were read, alike for all kinds of database.

A table's identity is ``schema.table``, a column's ``schema.table.column``. If names contain dots,
two identities can be equal: the table ``"b.c"`` in ``a``, and ``c`` in ``"a.b"``. A policy, gloss
or cell value could then be applied to the wrong one, so neither is indexed. Nor are keys of which
a table or column is not indexed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable

from nl2sql.catalog import Catalog, ForeignKey, Skipped, Table
from nl2sql.sql.names import fold_name, quote_name

_REASON = "a name contains dots and cannot be told from that of another table or column"


def assemble_catalog(
    database: str,
    dialect: str,
    tables: Iterable[Table],
    keys: Iterable[ForeignKey],
    *,
    search_path: tuple[str, ...],
    skipped: Iterable[Skipped] = (),
) -> Catalog:
    """The catalog; all that is left out here is listed after the ``skipped``.

    The names in keys may be in any spelling that the database takes for the tables' own; without
    ``target_columns``, a key refers to the primary key.
    """
    kept, ambiguous = remove_ambiguous(tables, dialect)
    by_name = {fold_name(table.qualified, dialect): table for table in kept}
    complete: list[ForeignKey] = []
    broken: list[Skipped] = []
    for key in keys:
        table = by_name.get(fold_name(key.table, dialect))
        target = by_name.get(fold_name(key.target, dialect))
        if table is None:
            continue
        name = f"{table.qualified}.{key.name}"
        if target is None:
            broken.append(Skipped("foreign key", name, "its target is not indexed", key.target))
            continue
        columns = _spell(key.columns, table, dialect)
        targets = _spell(key.target_columns or target.primary_key, target, dialect)
        if len(columns) == len(targets) == len(key.columns):
            complete.append(
                ForeignKey(key.name, table.qualified, columns, target.qualified, targets)
            )
        else:
            broken.append(Skipped("foreign key", name, "one of its columns is not indexed"))
    everything = (*skipped, *ambiguous, *broken)
    return Catalog(database, kept, tuple(complete), search_path, dialect, skipped=everything)


def find_reads(expression: str, columns: Collection[str]) -> tuple[str, ...]:
    """The columns that a generated column may be computed from: all that the expression names.

    All of them if it counts columns, as DuckDB's ``#1`` does.

    >>> find_reads('price * "per cent"', ["id", "Price", "per cent"]), find_reads("#1", ["id"])
    (('Price', 'per cent'), ('id',))
    """
    if re.search(r"#\s*\d", expression):
        return tuple(columns)
    text = expression.replace('""', '"').replace("``", "`")
    return tuple(
        name
        for name in columns
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    )


def _spell(names: Iterable[str], table: Table, dialect: str) -> tuple[str, ...]:
    """The names that the table has, as it spells them."""
    spelled = {fold_name(column.name, dialect): column.name for column in table.columns}
    found = (spelled.get(fold_name(name, dialect)) for name in names)
    return tuple(name for name in found if name is not None)


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
    if not any("." in part for table in found for part in _list_parts(table)):
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


def _list_parts(table: Table) -> list[str]:
    return [table.schema, table.name, *(column.name for column in table.columns)]


def _list_names(table: Table, dialect: str) -> list[str]:
    columns = (f"{table.qualified}.{column.name}" for column in table.columns)
    return [fold_name(name, dialect) for name in (table.qualified, *columns)]
