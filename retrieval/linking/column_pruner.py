"""Chooses the columns of a table to show, in databases that are too large to show whole.

A missing column costs more than a superfluous one, so little is left out. A narrow table keeps all
columns. A wide one keeps those of keys and those that the question, a value or search found, and
then, up to a limit, its first columns and typical answer columns (names, dates, amounts).
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from nl2sql.catalog import Table
from nl2sql.types import RetrievedTable, SchemaContext, SchemaLink
from retrieval.linking.question_words import read_name
from retrieval.linking.rules import is_time

# A table of at most this many columns is shown whole.
_NARROW = 8
# The columns of a wide table are filled up to this number.
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
    """Table → its remaining columns, in order; without the tables that are shown whole.

    A column of the same name as a linked one is kept in every table, so that the model can choose.
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
        own = linked.get(table.qualified, set())
        kept = _choose(hit, context.dialect, required[table.qualified] | own, linked_names)
        if len(kept) < len(table.columns):
            left = tuple(column.name for column in table.columns if column.name in kept)
            pruned.append((table.qualified, left))
    return tuple(pruned)


def _find_required(context: SchemaContext) -> Mapping[str, set[str]]:
    """Table → the columns of its keys, of keys to it, of values and of definitions."""
    required = {hit.table.qualified: set(hit.table.primary_key) for hit in context.tables}
    for key in context.foreign_keys:
        required.setdefault(key.table, set()).update(key.columns)
        required.setdefault(key.target, set()).update(key.target_columns)
    for match in context.values:
        required.setdefault(match.table, set()).add(match.column)
    for definition in context.definitions:
        for name in definition.columns:
            table, _, column = name.rpartition(".")
            required.setdefault(table, set()).add(column)
    return required


def _choose(
    hit: RetrievedTable, dialect: str, required: Set[str], linked_names: Set[str]
) -> set[str]:
    table: Table = hit.table
    kept = {*required, *hit.columns}
    kept |= {column.name for column in table.columns if column.name.casefold() in linked_names}
    room = _MOST_COLUMNS - len(kept & {column.name for column in table.columns})
    likely = [column.name for column in table.columns[:_FIRST]]
    likely += [
        column.name
        for column in table.columns
        if not _LABELS.isdisjoint(read_name(column.name)) or is_time(column, dialect)
    ]
    kept |= set([name for name in dict.fromkeys(likely) if name not in kept][: max(0, room)])
    return kept
