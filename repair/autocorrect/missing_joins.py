"""Tables whose columns are used but that are in no FROM."""

from __future__ import annotations

from collections import defaultdict

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.words import split_words
from repair.autocorrect.joining import add_join, find_ways
from repair.autocorrect.levels import Level, list_faults, point_at, read_levels
from repair.autocorrect.table_lookup import TableLookup


def missing_joins(tree: exp.Expr, visible: TableLookup) -> bool:
    """Adds the JOIN to ``SELECT customers.name FROM orders`` if one key leads there.

    Also to ``SELECT c.name FROM orders AS o``, if ``c`` abbreviates only one of the neighbours that
    have all columns used of ``c``. A SELECT without FROM gets one if all its columns name the same
    table.
    """
    changed = False
    for level in read_levels(tree, visible):
        asked: dict[str, dict[str, list[exp.Column]]] = defaultdict(lambda: defaultdict(list))
        for column, name in list_faults(level, "qualifier"):
            asked[visible.spell(column.args["table"])][name].append(column)
        for qualifier, columns in asked.items():
            tables = [table for table in visible.tables if visible.fold(table.name) == qualifier]
            if not level.sources:
                if len(tables) == 1 and len(asked) == 1:
                    level.select.set("from_", exp.From(this=visible.build_table(tables[0])))
                    changed = True
                continue
            tables = tables or _find_abbreviated(qualifier, set(columns), level)
            way = visible.choose(find_ways(level, tables[0])) if len(tables) == 1 else None
            if way is not None and (added := add_join(level, *way)):
                for name, nodes in columns.items():
                    for node in nodes:
                        point_at(node, added, name, visible)
                changed = True
    return changed


def _find_abbreviated(alias: str, names: set[str], level: Level) -> list[Table]:
    """The neighbours that have all the columns, and that the alias abbreviates."""
    visible = level.visible
    joined = [table for _, table in level.list_tables()]
    around = {
        neighbour.table.qualified: neighbour.table
        for table in joined
        for neighbour in visible.list_neighbours(table)
        if neighbour.table not in joined
    }
    return [
        table
        for table in around.values()
        if names <= set(visible.list_columns(table)) and is_abbreviation(alias, table.name)
    ]


def is_abbreviation(alias: str, name: str) -> bool:
    """True for the beginning of a name, and for the first letters of its words.

    >>> [is_abbreviation(alias, "order_lines") for alias in ("o", "ord", "ol", "l", "orders_x")]
    [True, True, True, False, False]
    """
    alias = alias.casefold()
    initials = "".join(word[0] for word in split_words(name))
    return alias in (initials, name.casefold()[: len(alias)])
