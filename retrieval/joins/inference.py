"""Infers undeclared foreign keys: candidates by names and types, confirmed on sampled values.

A key is inferred if nearly all of a sample of a column's distinct values occur in the column that
its name refers to, and that column is a key. Values alone would not suffice, since small integers
occur in many columns; nor would names. Targets are looked up by the words of a name instead of
compared pair by pair: 100,000 tables have ten thousand million pairs.

Not covered: columns whose name does not mention the target, views, and types other than numbers,
text and UUIDs. Inferred keys are used for joining, never for access control.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from nl2sql.catalog import Catalog, ForeignKey, Table
from nl2sql.sql.column_kinds import find_kind
from nl2sql.words import split_words
from retrieval.introspection.source_database import SourceDatabase
from retrieval.vocabulary.terms import expand_words

# Words that mark a column as a reference; the words before them name the target.
_REFERENCE_WORDS = frozenset("id no nr num number code key fk ref uid uuid sk".split())
# Names of keys that occur in every table.
_PLAIN_KEYS = frozenset({"id", "no", "code", "key", "number", "uid", "uuid", "name"})
# In a reference of a table to itself, the column names the role instead of the target.
_SELF_ROLES = frozenset("parent predecessor successor".split())
# Among more targets, names and a sample cannot identify the right one.
_MOST_TARGETS = 5
# Roles of people ("approved_by", "sales_rep_id"); they refer to the first existing table of
# _PEOPLE.
_PERSON_ROLES = frozenset(
    "by manager supervisor boss rep representative owner seller buyer approver requester requestor "
    "assignee author agent inspector technician planner creator reviewer operator lead leader head "
    "salesperson interviewer instructor trainer".split()
)
_SUPERIORS = frozenset("manager supervisor boss".split())
_PEOPLE = ("employee", "staff", "user", "person", "people")
# More keys of one name in one schema do not identify a target (a tenant's id).
_MOST_ALIKE = 20
# Ranks: the column has the target's name; the name of its key (plus 5 if the tables' names share no
# word); either with the words of a role before it (plus their number); a role of people.
_BY_TABLE, _BY_COLUMN, _IN_ROLE, _BY_PERSON = 0, 10, 30, 60

# The kinds of key columns, grouped by comparable values.
_FAMILIES = {
    **dict.fromkeys(("integer", "number", "float"), "number"),
    **{"uuid": "uuid", "text": "text", "": "any"},
}


@dataclass(frozen=True, slots=True)
class KeyCandidate:
    """``table(columns)`` may refer to ``target(target_columns)``.

    ``is_key``: the target's columns are its primary key; otherwise their uniqueness must be
    checked. ``rank``: how well the names fit, 0 is best; of candidates with equal rank only one can
    be right. ``is_exact``: the column has the name of the target or its key, without a role, and
    both tables are in the same schema.
    """

    table: Table
    columns: tuple[str, ...]
    target: Table
    target_columns: tuple[str, ...]
    is_key: bool
    is_exact: bool
    rank: int = 0


def find_candidates(catalog: Catalog) -> list[tuple[KeyCandidate, ...]]:
    """At most five targets, likeliest first, for each column or group of columns that may refer.

    Views and columns with a declared foreign key are left out.
    """
    tables = [table for table in catalog.tables if table.kind == "table"]
    index = _KeyTargets(tables, catalog.dialect)
    declared = {(key.table, column) for key in catalog.foreign_keys for column in key.columns}
    joined = {(key.table, key.target) for key in catalog.foreign_keys}
    found = []
    for table in tables:
        for columns in index.find_groups(table):
            if not any((table.qualified, column) in declared for column in columns):
                targets = tuple(
                    candidate
                    for candidate in index.look_up(table, columns)
                    # A table that the target refers to does not refer back.
                    if (candidate.target.qualified, table.qualified) not in joined
                )
                if targets:
                    found.append(targets[:_MOST_TARGETS])
    return found


def type_family(declared: str, dialect: str) -> str:
    """The family of types with comparable values; empty for types that keys do not have.

    >>> [type_family(name, "sqlite") for name in ("bigint", "NUMBER(9)", "char(4)", "date", "")]
    ['number', 'number', 'text', '', 'any']
    """
    return _FAMILIES.get(find_kind(declared, dialect), "")


@dataclass(frozen=True, slots=True)
class _Key:
    """One column of a table that others may refer to."""

    table: Table
    column: str
    is_primary: bool


class _Register:
    """Keys by name and schema."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, ...], dict[str, list[_Key]]] = {}

    def __contains__(self, name: tuple[str, ...]) -> bool:
        return name in self._keys

    def add(self, name: tuple[str, ...], key: _Key) -> None:
        """Adds a key under that name."""
        self._keys.setdefault(name, {}).setdefault(key.table.schema, []).append(key)

    def find(self, name: tuple[str, ...], schema: str) -> Sequence[_Key]:
        """The keys of that name in the schema, or else the only one in any other schema.

        Empty if too many keys have that name.
        """
        schemas = self._keys.get(name, {})
        keys = schemas.get(schema)
        if keys is None:
            keys = next(iter(schemas.values())) if len(schemas) == 1 else []
            return keys if len(keys) == 1 else ()
        return keys if len(keys) <= _MOST_ALIKE else ()


class _KeyTargets:
    """Keys by the words of their table's name, and by the words of their own name.

    In SQLite types need not match, because a text column may hold numbers.
    """

    def __init__(self, tables: Sequence[Table], dialect: str) -> None:
        self._dialect = dialect
        self._by_table = _Register()
        self._by_column = _Register()
        self._composite = _Register()
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        for table in tables:
            if len(table.primary_key) > 1:
                if table.primary_key not in self._composite:
                    self._by_first.setdefault(table.primary_key[0], []).append(table.primary_key)
                self._composite.add(table.primary_key, _Key(table, "", True))
            for key in _find_keys(table):
                self._by_table.add(_read(table.name), key)
                words = _read(key.column)
                if not _PLAIN_KEYS.issuperset(words):
                    self._by_column.add(words, key)

    def find_groups(self, table: Table) -> Iterator[tuple[str, ...]]:
        """Single columns, and groups of columns with the names of another table's key."""
        names = {column.name for column in table.columns}
        for column in table.columns:
            if type_family(column.type, self._dialect):
                yield (column.name,)
            for key in self._by_first.get(column.name, []):
                if key != table.primary_key and names.issuperset(key):
                    yield key

    def look_up(self, table: Table, columns: tuple[str, ...]) -> list[KeyCandidate]:
        """The targets of the columns of ``table``, likeliest first."""
        if len(columns) > 1:
            return [
                KeyCandidate(table, columns, key.table, columns, True, True)
                for key in self._composite.find(columns, table.schema)
                if self._types_fit(table, columns, key.table, columns)
            ]
        found: dict[tuple[str, str], KeyCandidate] = {}
        for rank, key in sorted(self._rank(table, columns[0]), key=itemgetter(0)):
            place = (key.table.qualified, key.column)
            if place not in found and self._types_fit(table, columns, key.table, (key.column,)):
                is_exact = rank < _IN_ROLE and key.table.schema == table.schema
                found[place] = KeyCandidate(
                    table, columns, key.table, (key.column,), key.is_primary, is_exact, rank
                )
        found.pop((table.qualified, columns[0]), None)
        return list(found.values())

    def _rank(self, table: Table, column: str) -> Iterator[tuple[int, _Key]]:
        """The keys that the column's name may mean, with their ranks."""
        words = _read(column)
        stem = _drop_reference_words(words)
        around = _read(table.name)
        own = table.primary_key[0] if len(table.primary_key) == 1 else ""
        if column == own and (not stem or stem == around[-len(stem) :]):
            return  # the table's own key
        if stem and stem[0] in _SELF_ROLES and own and stem != words:
            yield _IN_ROLE, _Key(table, own, True)
        for start in range(len(stem)):
            # "billing address" is an address in the role "billing".
            rank = _IN_ROLE + start if start else _BY_TABLE
            for key in self._by_table.find(stem[start:], table.schema):
                yield rank, key
        if stem and stem[-1] in _PERSON_ROLES:
            people = (self._by_table.find((name,), table.schema) for name in _PEOPLE)
            for key in next((found for found in people if found), ()):
                yield _BY_PERSON, key
            # A manager may be a row of the same table.
            if stem[-1] in _SUPERIORS and own:
                yield _BY_PERSON + 1, _Key(table, own, True)
        # Primary keys of the same name do not refer to one another.
        if column != own and not _PLAIN_KEYS.issuperset(words):
            for start in range(max(1, len(words) - 1)):
                for key in self._by_column.find(words[start:], table.schema):
                    shared = len({*around} & {*_read(key.table.name)} - {*stem})
                    rank = _IN_ROLE + start if start else _BY_COLUMN
                    yield rank + (0 if shared else 5), key

    def _types_fit(
        self, table: Table, columns: Sequence[str], target: Table, target_columns: Sequence[str]
    ) -> bool:
        for mine, theirs in zip(columns, target_columns, strict=True):
            left, right = table.column(mine), target.column(theirs)
            if left is None or right is None:
                return False
            families = {type_family(side.type, self._dialect) for side in (left, right)} - {"any"}
            if "" in families or (len(families) > 1 and self._dialect != "sqlite"):
                return False
        return True


def _find_keys(table: Table) -> Iterator[_Key]:
    """The table's primary key; if none is declared, the columns that are named like one."""
    if len(table.primary_key) == 1:
        yield _Key(table, table.primary_key[0], True)
    elif not table.primary_key:
        name = _read(table.name)
        for at, column in enumerate(table.columns):
            words = _read(column.name)
            stem = _drop_reference_words(words)
            # "stuid" cannot be split into words.
            is_named_so = stem != words or (words and words[-1].endswith("id"))
            if is_named_so and (at == 0 or stem == name or not stem):
                yield _Key(table, column.name, False)


@lru_cache(maxsize=1 << 17)
def _read(name: str) -> tuple[str, ...]:
    return tuple(expand_words(split_words(name)))


def _drop_reference_words(words: tuple[str, ...]) -> tuple[str, ...]:
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
# The least number of distinct values: for an exact name, for any other name, and for a target in
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
    """The inferred keys, sorted by table and columns; ``progress(done, total)`` counts columns.

    A column gets at most one target: the only confirmed one among those with the best rank. Raises
    DatabaseUnavailable.
    """
    groups = find_candidates(catalog)
    confirmed: dict[tuple[str, tuple[str, ...]], ForeignKey] = {}
    for done, group in enumerate(groups, start=1):
        for _, equal in groupby(group, key=attrgetter("rank")):
            keys = [
                key
                for candidate in equal
                if not _refers_back(key := _build_key(candidate), confirmed)
                and _is_confirmed(candidate, sampler)
            ]
            if len(keys) == 1:
                confirmed[keys[0].table, keys[0].columns] = keys[0]
            if keys:
                break
        progress(done, len(groups))
    return tuple(confirmed[place] for place in sorted(confirmed))


def _refers_back(
    key: ForeignKey, confirmed: Mapping[tuple[str, tuple[str, ...]], ForeignKey]
) -> bool:
    """Whether a confirmed key from the target's columns refers to this table."""
    other = confirmed.get((key.target, key.target_columns))
    return other is not None and other.target == key.table


def _is_confirmed(candidate: KeyCandidate, sampler: SourceDatabase[Any]) -> bool:
    least = _LEAST_SAMPLED_EXACT if candidate.is_exact else _LEAST_SAMPLED
    if candidate.target.schema != candidate.table.schema:
        least = _LEAST_SAMPLED_OTHER_SCHEMA
    containment = sampler.contain(
        candidate.table, candidate.columns, candidate.target, candidate.target_columns
    )
    return (
        containment is not None
        and containment.sampled >= least
        and containment.found >= _LEAST_FOUND * containment.sampled
        and (candidate.is_key or sampler.is_unique(candidate.target, candidate.target_columns))
    )


def _build_key(candidate: KeyCandidate) -> ForeignKey:
    name = "_".join((candidate.table.name, *candidate.columns, "inferred"))
    return ForeignKey(
        name,
        candidate.table.qualified,
        candidate.columns,
        candidate.target.qualified,
        candidate.target_columns,
        inferred=True,
    )
