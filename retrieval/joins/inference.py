"""Infers undeclared foreign keys: candidates by names and types, confirmed on sampled values.

A key is inferred if nearly all of a sample of a column's distinct values occur in the column that
its name refers to, and that column is a key. Values alone would not suffice, since small integers
occur in many columns; nor would names. Targets are looked up by the words of a name instead of
compared pair by pair: 100,000 tables have ten thousand million pairs.

Not covered: columns whose name does not mention the target, keys of several columns, views, and
types other than numbers, text and UUIDs. Inferred keys are used for joining, never for access
control.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from nl2sql.catalog import Catalog, Column, ForeignKey, Table
from nl2sql.sql.column_kinds import find_kind
from retrieval.introspection.source_database import SourceDatabase
from retrieval.linking.words import read_name

# Words that mark a column as a reference; the words before them name the target.
_REFERENCE_WORDS = frozenset("id no nr num number code key fk ref uid uuid sk".split())
# Names of keys that occur in every table.
_PLAIN_KEYS = frozenset({"id", "no", "code", "key", "number", "uid", "uuid", "name"})
# Roles of people ("approved_by", "sales_rep_id"); they refer to the first existing table of
# _PEOPLE, itself included.
_PERSON_ROLES = frozenset(
    "by manager supervisor boss rep representative owner seller buyer approver requester requestor "
    "assignee author agent inspector technician planner creator reviewer operator lead leader head "
    "salesperson interviewer instructor trainer".split()
)
_PEOPLE = ("employee", "staff", "user", "person", "people")
_BY_PERSON = 60
# Among more targets, names and a sample cannot identify the right one (a tenant's id).
_MOST_TARGETS = 5

# The kinds of key columns, grouped by comparable values.
_FAMILIES = {
    **dict.fromkeys(("integer", "number", "float"), "number"),
    **{"uuid": "uuid", "text": "text", "": "any"},
}

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """One column of a table that others may refer to."""

    table: Table
    column: Column


@dataclass(frozen=True, slots=True)
class KeyCandidate:
    """``table(column)`` may refer to ``key``, which must be checked to be one if it is not primary.

    ``rank``: how well the names fit, 0 is best: the number of words of a role before the name,
    twice, and 1 more for the name of a key instead of a table; a role of people is last. Of
    candidates with equal rank only one can be right.
    """

    table: Table
    column: str
    key: Key
    rank: int

    def build(self) -> ForeignKey:
        """The inferred key."""
        return ForeignKey(
            f"{self.table.name}_{self.column}_inferred",
            self.table.qualified,
            (self.column,),
            self.key.table.qualified,
            (self.key.column.name,),
            inferred=True,
        )


def find_candidates(catalog: Catalog) -> list[tuple[KeyCandidate, ...]]:
    """At most five targets, likeliest first, for each column that may refer to one.

    Views and columns with a declared foreign key are left out.
    """
    tables = [table for table in catalog.tables if table.kind == "table"]
    keys = _KeyNames(tables)
    declared = {(key.table, column) for key in catalog.foreign_keys for column in key.columns}
    joined = {(key.table, key.target) for key in catalog.foreign_keys}
    found = []
    for table in tables:
        for column in table.columns:
            if (table.qualified, column.name) in declared:
                continue
            best: dict[tuple[str, str], KeyCandidate] = {}
            for rank, key in keys.rank(table, column):
                place = (key.table.qualified, key.column.name)
                is_itself = place == (table.qualified, column.name)
                # A table that the target refers to does not refer back.
                refers_back = (key.table.qualified, table.qualified) in joined
                if not (is_itself or refers_back) and _may_equal(
                    column, key.column, catalog.dialect
                ):
                    best.setdefault(place, KeyCandidate(table, column.name, key, rank))
            if best:
                ranked = sorted(best.values(), key=attrgetter("rank"))
                found.append(tuple(ranked[:_MOST_TARGETS]))
    return found


def _may_equal(column: Column, other: Column, dialect: str) -> bool:
    """Whether the types fit; in SQLite a text column may hold numbers.

    >>> _may_equal(Column("a", "NUMBER(9)"), Column("b", "bigint"), "postgres")
    True
    """
    kinds = (find_kind(side.type, dialect) for side in (column, other))
    families = {_FAMILIES.get(kind, "") for kind in kinds} - {"any"}
    return "" not in families and (len(families) < 2 or dialect == "sqlite")


# By words and by schema.
_Names = Mapping[Words, Mapping[str, list[Key]]]


class _KeyNames:
    """Keys by the words of their table's name, and by the words of their own name."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._by_table: _Names = defaultdict(lambda: defaultdict(list))
        self._by_column: _Names = defaultdict(lambda: defaultdict(list))
        for table in tables:
            for key in _find_keys(table):
                self._by_table[read_name(table.name)][table.schema].append(key)
                words = read_name(key.column.name)
                if not _PLAIN_KEYS.issuperset(words):
                    self._by_column[words][table.schema].append(key)

    def rank(self, table: Table, column: Column) -> Iterator[tuple[int, Key]]:
        """The keys that the column's name may mean, with their ranks."""
        words = read_name(column.name)
        stem = _drop_reference_words(words)
        is_own = table.primary_key == (column.name,)
        if is_own and stem == read_name(table.name)[-len(stem) :]:
            return
        for start in range(len(stem)):
            # "billing address" is an address in the role "billing".
            for key in _choose(self._by_table.get(stem[start:], {}), table.schema):
                yield 2 * start, key
        if stem and stem[-1] in _PERSON_ROLES:
            people = (_choose(self._by_table.get((name,), {}), table.schema) for name in _PEOPLE)
            for key in next(filter(None, people), ()):
                yield _BY_PERSON, key
        # Primary keys of the same name do not refer to one another.
        if not is_own:
            for start in range(max(1, len(words) - 1)):
                for key in _choose(self._by_column.get(words[start:], {}), table.schema):
                    yield 2 * start + 1, key


def _choose(schemas: Mapping[str, list[Key]], schema: str) -> Sequence[Key]:
    """The keys in the schema, or else the only one in any other; none if they are too many."""
    found = schemas.get(schema)
    if found is None:
        found = next(iter(schemas.values())) if len(schemas) == 1 else []
        return found if len(found) == 1 else ()
    return found if len(found) <= _MOST_TARGETS else ()


def _find_keys(table: Table) -> Iterator[Key]:
    """The table's primary key; if none is declared, the columns that are named like one."""
    name = read_name(table.name)
    for at, column in enumerate(table.columns):
        if table.primary_key == (column.name,):
            yield Key(table, column)
        if table.primary_key:
            continue
        words = read_name(column.name)
        stem = _drop_reference_words(words)
        # "stuid" cannot be split into words.
        is_named_so = stem != words or (words and words[-1].endswith("id"))
        if is_named_so and (at == 0 or stem == name or not stem):
            yield Key(table, column)


def _drop_reference_words(words: Words) -> Words:
    """
    >>> _drop_reference_words(("customer", "id")), _drop_reference_words(("total",))
    (('customer',), ('total',))
    """
    end = len(words)
    while end and words[end - 1] in _REFERENCE_WORDS:
        end -= 1
    return words[:end]


# Share of the sampled values that must be found: a few may refer to deleted rows.
_LEAST_FOUND = 0.95
# The least number of distinct values: for the whole name, for one in a role, and for a target in
# another schema.
_LEAST_SAMPLED_EXACT = 2
_LEAST_SAMPLED = 3
_LEAST_SAMPLED_OTHER_SCHEMA = 20


def infer_keys(
    catalog: Catalog,
    sampler: SourceDatabase[Any],
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[ForeignKey, ...]:
    """The inferred keys, sorted by table and column; ``progress(done, total)`` counts columns.

    A column gets at most one target: the only confirmed one among those with the best rank. Raises
    DatabaseUnavailable.
    """
    groups = find_candidates(catalog)
    found: dict[tuple[str, str], KeyCandidate] = {}
    for done, group in enumerate(groups, start=1):
        for _, equal in groupby(group, key=attrgetter("rank")):
            confirmed = [
                candidate
                for candidate in equal
                if not _refers_back(candidate, found) and _is_confirmed(candidate, sampler)
            ]
            if len(confirmed) == 1:
                found[group[0].table.qualified, group[0].column] = confirmed[0]
            if confirmed:
                break
        progress(done, len(groups))
    return tuple(found[place].build() for place in sorted(found))


def _refers_back(candidate: KeyCandidate, found: Mapping[tuple[str, str], KeyCandidate]) -> bool:
    """Whether a key found from the target's column refers to this table."""
    other = found.get((candidate.key.table.qualified, candidate.key.column.name))
    return other is not None and other.key.table == candidate.table


def _is_confirmed(candidate: KeyCandidate, sampler: SourceDatabase[Any]) -> bool:
    target, column = candidate.key.table, candidate.key.column.name
    least = _LEAST_SAMPLED_EXACT if candidate.rank < 2 else _LEAST_SAMPLED
    if target.schema != candidate.table.schema:
        least = _LEAST_SAMPLED_OTHER_SCHEMA
    containment = sampler.contain(candidate.table, candidate.column, target, column)
    return (
        containment is not None
        and containment.sampled >= least
        and containment.found >= _LEAST_FOUND * containment.sampled
        and (bool(target.primary_key) or sampler.is_unique(target, column))
    )
