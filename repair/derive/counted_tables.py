"""How many rows of a table that the question names, instead of rows of the one that is read."""

from __future__ import annotations

from collections.abc import Iterator, Set

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.autocorrect.levels import Level, Source, read_levels
from repair.autocorrect.missing_tables import add_join
from repair.autocorrect.table_lookup import Neighbour
from repair.derive.dropped_joins import list_with_fewer_joins
from repair.derive.original import Original, name_head


def counted_tables(original: Original) -> Iterator[exp.Expr]:
    """``FROM genre GROUP BY name ORDER BY count(*)`` becomes ``FROM genre JOIN track ON …``.

    For a question that names tracks: a table that refers to one of the query's, and of which the
    query reads nothing. Also without joins that nothing uses.
    """
    read = {table.qualified for level in original.levels for _, table in level.list_tables()}
    for version in list_with_fewer_joins(original):
        yield from _count_others(version, read)


def _count_others(original: Original, read: Set[str]) -> Iterator[exp.Expr]:
    for number, level in enumerate(original.levels):
        if level.select.args.get("group") is None or not _counts_rows(level.select):
            continue
        for source, neighbour in _list_referring(original, level):
            table = neighbour.table
            if table.qualified in read or name_head(table) not in original.words:
                continue
            tree = original.tree.copy()
            copy = read_levels(tree, original.visible)[number]
            own = copy.sources[original.visible.spell(source.identifier)]
            if add_join(copy, own, neighbour) is not None:
                yield tree


def _counts_rows(select: exp.Select) -> bool:
    return any(
        count.parent_select is select and isinstance(count.this, exp.Star)
        for count in find_all(select, exp.Count)
    )


def _list_referring(original: Original, level: Level) -> Iterator[tuple[Source, Neighbour]]:
    """The tables that refer to one of the SELECT's to which none of its others refers.

    Of two tables that refer to the same one, each would repeat the other's rows.
    """
    joined = {table.qualified for _, table in level.list_tables()}
    for source, table in level.list_tables():
        referring = [
            neighbour
            for neighbour in original.visible.list_neighbours(table)
            if neighbour.key.table == neighbour.table.qualified
        ]
        if not any(neighbour.table.qualified in joined for neighbour in referring):
            for neighbour in referring:
                yield source, neighbour
