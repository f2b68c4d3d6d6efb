"""Chooses the columns of a table to show, in databases that are too large to show whole.

A missing column costs more than a superfluous one, so little is left out. A narrow table keeps all
columns. A wide one keeps those of keys and those that the question, a value or search found, and
then, up to a limit, its first columns and typical answer columns (names, dates, amounts). Short
tables have lower limits, the last of them the lowest, and then keep no remarks and no columns that
say who wrote a row and when.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from nl2sql.catalog import Table
from nl2sql.types import RetrievedTable, SchemaContext, SchemaLink
from nl2sql.words import split_words
from retrieval.linking.rules import is_time
from retrieval.linking.words import read_name


@dataclass(frozen=True, slots=True)
class _Limits:
    """A table of at most ``narrow`` columns keeps all; others are filled up to ``most``.

    ``first`` columns are as likely needed as typical answer columns.
    """

    narrow: int
    most: int
    first: int


_FULL = _Limits(narrow=8, most=12, first=5)
_SHORT = _Limits(narrow=0, most=10, first=5)
_SHORT_AND_LAST = _Limits(narrow=0, most=6, first=2)
# The rank after which a short table is one of the last.
_LAST_FROM = 12
# Columns of which all words are among these say nothing about what the rows are.
_REMARKS = frozenset("created updated modified at by on is active note description comment".split())
_LABELS = frozenset(
    "name title label code number no status type category description email "
    "amount amt total price cost value quantity qty balance rate count score "
    "first last city country".split()
)


def prune_columns(
    context: SchemaContext, links: tuple[SchemaLink, ...], *, all_tables: bool = True
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Table → its remaining columns, in order; without the tables that are shown whole.

    A column of the same name as a linked one is kept in every table, so that the model can choose.
    Without ``all_tables`` only the short ones are pruned.
    """
    required = _find_required(context)
    linked: dict[str, set[str]] = {}
    for link in links:
        if link.column:
            linked.setdefault(link.table, set()).add(link.column)
    linked_names = {column.casefold() for columns in linked.values() for column in columns}
    pruned = []
    for rank, hit in enumerate(context.tables, start=1):
        table = hit.table
        limits = _FULL if not hit.short else _SHORT if rank <= _LAST_FROM else _SHORT_AND_LAST
        if (
            len(table.columns) <= limits.narrow
            or table.qualified in context.shared
            or not (all_tables or hit.short)
        ):
            continue
        own = linked.get(table.qualified, set())
        kept = _choose(hit, context.dialect, required[table.qualified] | own, linked_names, limits)
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
    hit: RetrievedTable,
    dialect: str,
    required: Set[str],
    linked_names: Set[str],
    limits: _Limits,
) -> set[str]:
    table: Table = hit.table
    kept = {*required, *hit.columns}
    kept |= {column.name for column in table.columns if column.name.casefold() in linked_names}
    room = limits.most - len(kept & {column.name for column in table.columns})
    columns = [
        column
        for column in table.columns
        if not (hit.short and _REMARKS.issuperset(split_words(column.name)))
    ]
    likely = [column.name for column in columns[: limits.first]]
    likely += [
        column.name
        for column in columns
        if not _LABELS.isdisjoint(read_name(column.name)) or is_time(column, dialect)
    ]
    if hit.short:
        likely += [column.name for column in columns]
    kept |= set([name for name in dict.fromkeys(likely) if name not in kept][: max(0, room)])
    return kept
