"""Chooses the columns of a table to show, in databases that are too large to show whole.

A missing column costs more than a superfluous one, so little is left out of the best tables. A
narrow one keeps all columns; a wide one keeps those of keys and those that the question, a value or
search found, and then, up to a limit, its first columns and typical answer columns (names, dates,
amounts).

Short tables keep the columns that are worth their tokens: the share of such columns that queries
read, times how likely a table of this rank is needed at all, must reach a least worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from nl2sql.catalog import Column, Table
from nl2sql.types import RetrievedTable, SchemaContext, SchemaLink
from nl2sql.words import split_words
from retrieval.linking.question_words import read_name
from retrieval.linking.rules import is_time

# A full table of at most so many columns keeps all; others are filled up to the second number, and
# short ones have at most so many.
_NARROW = 8
_MOST = 12
# Its first columns are as likely needed as typical answer columns.
_FIRST = 5
# How much less likely a table is needed the later its rank: rank to the power of this.
_FALL = 1.3
# The least worth of a column in a short table; a column of worth 1 in the best table has worth 1.
_LEAST = 0.008
# Columns of which all words are among these say nothing about what the rows are.
_REMARKS = frozenset("created updated modified at by on is active note description comment".split())
_LABELS = frozenset(
    "name title label code number no status type category description email "
    "amount amt total price cost value quantity qty balance rate count score "
    "first last city country".split()
)
# Of the columns of a kind in tables that a query needs, the share that it reads; estimated from
# questions of four databases (docs/measurements/retrieval.md). A column is of the first kind that
# one of its words belongs to.
_KINDS: tuple[tuple[frozenset[str], float], ...] = (
    (frozenset({"first"}), 0.2),
    (frozenset({"name", "title"}), 0.8),
    (frozenset({"quantity"}), 0.35),
    (frozenset("total amount cost price value balance code".split()), 0.2),
    (frozenset({"status"}), 0.15),
    (_LABELS, 0.07),
)
_LINKED = 0.6
_OWN_KEY = 0.5
_SAME_NAME = 0.4
_FOUND = 0.4
_OTHER_KEY = 0.2
_TIME = 0.1
_OTHER = 0.04


def prune_columns(
    context: SchemaContext, links: tuple[SchemaLink, ...], *, all_tables: bool = True
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Table → its remaining columns, in order; without the tables that are shown whole.

    A column of the same name as a linked one is kept in every table in full, so that the model can
    choose. Without ``all_tables`` only the short ones are pruned.
    """
    keys = _find_keys(context)
    named = _find_named(context)
    linked: dict[str, set[str]] = {}
    for link in links:
        if link.column:
            linked.setdefault(link.table, set()).add(link.column)
    linked_names = {column.casefold() for columns in linked.values() for column in columns}
    pruned = []
    for rank, hit in enumerate(context.tables, start=1):
        table = hit.table
        name = table.qualified
        if name in context.shared:
            continue
        if hit.short:
            kept = named.get(name, set()) | _choose_short(
                hit, rank, context.dialect, linked.get(name, set()), keys[name], linked_names
            )
        elif all_tables and len(table.columns) > _NARROW:
            required = keys[name] | named.get(name, set()) | linked.get(name, set())
            kept = _choose_full(hit, context.dialect, required, linked_names)
        else:
            continue
        if len(kept) < len(table.columns):
            left = tuple(column.name for column in table.columns if column.name in kept)
            pruned.append((name, left))
    return tuple(pruned)


def _find_keys(context: SchemaContext) -> Mapping[str, set[str]]:
    """Table → the columns of its keys and of keys to it."""
    keys = {hit.table.qualified: set(hit.table.primary_key) for hit in context.tables}
    for key in context.foreign_keys:
        keys.setdefault(key.table, set()).update(key.columns)
        keys.setdefault(key.target, set()).update(key.target_columns)
    return keys


def _find_named(context: SchemaContext) -> Mapping[str, set[str]]:
    """Table → the columns of values and definitions that the question names."""
    named: dict[str, set[str]] = {}
    for match in context.values:
        named.setdefault(match.table, set()).add(match.column)
    for definition in context.definitions:
        for name in definition.columns:
            table, _, column = name.rpartition(".")
            named.setdefault(table, set()).add(column)
    return named


def _choose_full(
    hit: RetrievedTable, dialect: str, required: Set[str], linked_names: Set[str]
) -> set[str]:
    table: Table = hit.table
    kept = {*required, *hit.columns}
    kept |= {column.name for column in table.columns if column.name.casefold() in linked_names}
    room = _MOST - len(kept & {column.name for column in table.columns})
    likely = [column.name for column in table.columns[:_FIRST]]
    likely += [
        column.name
        for column in table.columns
        if not _LABELS.isdisjoint(read_name(column.name)) or is_time(column, dialect)
    ]
    return kept | set([name for name in dict.fromkeys(likely) if name not in kept][: max(0, room)])


def _choose_short(
    hit: RetrievedTable,
    rank: int,
    dialect: str,
    linked: Set[str],
    keys: Set[str],
    linked_names: Set[str],
) -> set[str]:
    """The worthiest columns that reach the least worth, at least one."""
    table = hit.table

    def weigh(column: Column) -> float:
        name = column.name
        worth = _OTHER_KEY if name in keys else _weigh_name(column, dialect)
        if name in table.primary_key:
            worth = max(worth, _OWN_KEY)
        if name.casefold() in linked_names:
            worth = max(worth, _SAME_NAME)
        if name in hit.columns:
            worth = max(worth, _FOUND)
        return max(worth, _LINKED) if name in linked else worth

    worths = {column.name: weigh(column) for column in table.columns}
    best = sorted(worths, key=lambda name: -worths[name])[:_MOST]
    least = _LEAST * rank**_FALL
    return {name for place, name in enumerate(best) if place == 0 or worths[name] >= least}


def _weigh_name(column: Column, dialect: str) -> float:
    """The worth of a column that only its name and type speak for."""
    words = set(read_name(column.name))
    if _REMARKS.issuperset(split_words(column.name)):
        return 0.0
    for kind, worth in _KINDS:
        if not kind.isdisjoint(words):
            return worth
    return _TIME if is_time(column, dialect) else _OTHER
