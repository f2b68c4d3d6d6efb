"""Which columns of a table are worth showing, in databases that are too large to show whole.

Lost columns cost more than noise, so little is left out: a narrow table keeps everything, and of a
wide one all that joins need, all that the question, a value or search pointed at, and then, up to a
number, the first columns and those that answers are made of (names, dates, amounts).
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from nl2sql.catalog import Table
from nl2sql.types import RetrievedTable, SchemaContext, SchemaLink
from retrieval.linking.question_words import read_name
from retrieval.linking.rules import is_time

# A table of so many columns is shown whole.
_NARROW = 8
# How many columns a wide table gets at most, besides those that it must keep.
_MOST_COLUMNS = 12
_FIRST = 5
_LABELS = frozenset(
    "name title label code number no status type category description email "
    "amount amt total price cost value quantity qty balance rate count score "
    "first last city country".split()
)


def prune_columns(
    context: SchemaContext, links: tuple[SchemaLink, ...]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Table → the columns that are left of it, in its own order; tables kept whole are not there.

    A column called like a linked one is kept in every table: which of them is meant, the model is
    to see.
    """
    required = _find_required(context)
    linked: dict[str, set[str]] = {}
    for link in links:
        if link.column:
            linked.setdefault(link.table, set()).add(link.column)
    linked_names = {column.casefold() for columns in linked.values() for column in columns}
    pruned = []
    for hit in context.tables:
        table = hit.table
        if len(table.columns) <= _NARROW or table.qualified in context.shared:
            continue
        kept = _choose(hit, required, linked.get(table.qualified, set()), linked_names)
        if len(kept) < len(table.columns):
            left = tuple(column.name for column in table.columns if column.name in kept)
            pruned.append((table.qualified, left))
    return tuple(pruned)


def _find_required(context: SchemaContext) -> Mapping[str, set[str]]:
    """Table → the columns of its keys, of keys onto it, and of values that the question holds."""
    required = {hit.table.qualified: set(hit.table.primary_key) for hit in context.tables}
    for key in context.foreign_keys:
        required.setdefault(key.table, set()).update(key.columns)
        required.setdefault(key.target, set()).update(key.target_columns)
    for match in context.values:
        required.setdefault(match.table, set()).add(match.column)
    return required


def _choose(
    hit: RetrievedTable, required: Mapping[str, set[str]], linked: Set[str], linked_names: Set[str]
) -> set[str]:
    table: Table = hit.table
    kept = required[table.qualified] | linked | set(hit.columns)
    kept |= {column.name for column in table.columns if column.name.casefold() in linked_names}
    room = _MOST_COLUMNS - len(kept & {column.name for column in table.columns})
    likely = [column.name for column in table.columns[:_FIRST]]
    likely += [
        column.name
        for column in table.columns
        if not _LABELS.isdisjoint(read_name(column.name)) or is_time(column)
    ]
    kept |= set([name for name in dict.fromkeys(likely) if name not in kept][: max(0, room)])
    return kept
