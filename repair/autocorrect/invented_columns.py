"""Column names that a model invents, if only one real column can be meant.

``regions.region_name`` means ``regions.name``, ``orders.channel_code`` means ``orders.channel``. If
two names fit, nothing is changed; a number is never replaced by a name, since the words of both
must agree.
"""

from __future__ import annotations

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.words import split_words
from repair.autocorrect.levels import (
    Level,
    Source,
    compares_itself,
    list_faults,
    point_at,
    read_levels,
)
from repair.autocorrect.table_lookup import TableLookup

# Words that models append to a column's name without changing its meaning.
_EMPTY_WORDS = frozenset({"code", "name", "value", "total", "amount", "number", "text"})


def invented_columns(tree: exp.Expr, visible: TableLookup) -> bool:
    """Replaces them, by a column of the named table or else of the other joined tables."""
    changed = False
    for level in read_levels(tree, visible):
        for column, _ in list_faults(level, "owner", "column"):
            if found := _find_meant(column, level):
                source, name = found[0], visible.fold(found[1])
                if not compares_itself(column, source, name, visible):
                    point_at(column, source, name, visible)
                    changed = True
    return changed


def find_column(invented: str, table: Table) -> str | None:
    """The only column of the table that the invented name can mean, or None.

    >>> from nl2sql.catalog import Column
    >>> names = ("region_id", "code", "name", "qty_good")
    >>> regions = Table("hr", "regions", tuple(Column(name, "text") for name in names))
    >>> [find_column(name, regions) for name in ("region_name", "good", "id", "title")]
    ['name', 'qty_good', 'region_id', None]
    """
    words = set(split_words(invented))
    own = set(split_words(table.name))
    graded: dict[int, list[str]] = {}
    for column in table.columns:
        real = set(split_words(column.name))
        if real == words - own or real - own == words:
            graded.setdefault(0, []).append(column.name)
        elif real <= words and words - real <= own | _EMPTY_WORDS and real - _EMPTY_WORDS:
            graded.setdefault(1, []).append(column.name)
        elif words <= real and words:
            graded.setdefault(2, []).append(column.name)
    best = graded[min(graded)] if graded else []
    return best[0] if len(best) == 1 else None


def _find_meant(column: exp.Column, level: Level) -> tuple[Source, str] | None:
    """The only column of a joined table that can be meant; None if a source is unknown."""
    if any(source.table is None for source in level.sources.values()):
        return None
    asked = column.args.get("table")
    first = level.sources.get(level.visible.spell(asked)) if asked is not None else None
    if first and first.table and (name := find_column(column.name, first.table)):
        return first, name
    found = [
        (source, name)
        for source, table in level.list_tables()
        if source is not first and (name := find_column(column.name, table))
    ]
    return found[0] if len(found) == 1 else None
