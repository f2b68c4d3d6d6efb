"""Where a query can be damaged: its tables' columns, and how it is written again."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from repair.autocorrect.levels import Level, Source, read_levels
from repair.autocorrect.table_lookup import TableLookup


def write_query(tree: exp.Expr, visible: TableLookup) -> str:
    return tree.sql(visible.dialect, comments=False, unsupported_level=ErrorLevel.IGNORE)


def list_owned(tree: exp.Expr, visible: TableLookup) -> Iterator[tuple[exp.Column, Source, Level]]:
    """The columns of tables, each with the only source that it can refer to."""
    for level in read_levels(tree, visible):
        for column in level.columns:
            name, qualifier = visible.spell(column.this), column.args.get("table")
            owners = level.owners(name) if qualifier is None else []
            source = level.sources.get(visible.spell(qualifier)) if qualifier is not None else None
            source = source or (owners[0] if len(owners) == 1 else None)
            if source is not None and source.table is not None and source.has(name):
                yield column, source, level


def list_qualified(
    tree: exp.Expr, visible: TableLookup
) -> Iterator[tuple[exp.Column, Source, Level]]:
    return (each for each in list_owned(tree, visible) if each[0].args.get("table") is not None)
