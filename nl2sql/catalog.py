"""A database's schema as QuorumSQL sees it: tables, columns, keys and comments.

Pure values, independent of how they are read from a server.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from nl2sql.sql.names import fold_name, quote_name
from nl2sql.words import split_words


@dataclass(frozen=True, slots=True)
class Column:
    """One column. ``type`` is the server's own spelling, for example ``numeric(12,2)``.

    ``reads`` are the table's columns that a generated one is computed from, or more of them.
    """

    name: str
    type: str
    nullable: bool = True
    comment: str = ""
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """``table(columns)`` references ``target(target_columns)``; both names are qualified.

    An ``inferred`` key is not declared in the database, but derived from names, types and sampled
    values. It is used for joins, never to decide what a principal may see.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]
    inferred: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One table or view. ``schema.name`` is its identity everywhere in the pipeline.

    ``definition`` is a view's query with schema-qualified tables; empty if unknown. ``ancestors``
    are the tables, qualified, in which this one's rows are found too (PostgreSQL's INHERITS).
    """

    schema: str
    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    comment: str = ""
    kind: str = "table"
    definition: str = ""
    ancestors: tuple[str, ...] = ()

    @property
    def qualified(self) -> str:
        """The table's identity, ``schema.name``, unquoted."""
        return f"{self.schema}.{self.name}"

    def column(self, name: str) -> Column | None:
        """The column of that name, or None."""
        return next((column for column in self.columns if column.name == name), None)


@dataclass(frozen=True, slots=True)
class Skipped:
    """One thing that introspection left out: for the operator, never for a prompt.

    It may name what no principal may know about, so it is never stored with the index.

    ``kind`` is ``schema``, ``table``, ``view``, ``column``, ``foreign key`` and the like;
    ``reason`` is a general reason, ``detail`` is specific to this object; ``remedy`` is an SQL
    statement that would make it readable, or empty.
    """

    kind: str
    name: str
    reason: str
    detail: str = ""
    remedy: str = ""


def keep_keys(keys: Iterable[ForeignKey], tables: Iterable[Table]) -> tuple[ForeignKey, ...]:
    """The keys of which the tables have all columns."""
    columns = {table.qualified: {column.name for column in table.columns} for table in tables}
    return tuple(
        key
        for key in keys
        if columns.get(key.table, set()).issuperset(key.columns)
        and columns.get(key.target, set()).issuperset(key.target_columns)
    )


@dataclass(frozen=True)
class Catalog:
    """All tables that the indexing role may see, and the foreign keys between them.

    ``search_path`` is the order in which the server resolves a name without a schema.
    ``inferred_keys`` are undeclared joins: the planner uses them, policies never do. ``skipped``
    lists what introspection left out; it is empty for a catalog read from the index.
    """

    database: str
    tables: tuple[Table, ...]
    foreign_keys: tuple[ForeignKey, ...] = ()
    search_path: tuple[str, ...] = ("public",)
    dialect: str = "postgres"
    inferred_keys: tuple[ForeignKey, ...] = ()
    skipped: tuple[Skipped, ...] = field(default=(), repr=False, compare=False)

    @cached_property
    def _by_name(self) -> dict[str, Table]:
        return {table.qualified: table for table in self.tables}

    @cached_property
    def _by_folded(self) -> dict[str, Table]:
        return {fold_name(table.qualified, self.dialect): table for table in self.tables}

    def table(self, qualified: str) -> Table | None:
        """The table of that qualified name, or None."""
        return self._by_name.get(qualified)

    def resolve(self, name: str, schema: str = "") -> Table | None:
        """The table that the server would find under this name, or None.

        SQLite and DuckDB ignore case; for PostgreSQL, ``name`` must already be folded.

        >>> orders = Table("sales", "orders", ())
        >>> Catalog("shop", (orders,), search_path=("hr", "sales")).resolve("orders").qualified
        'sales.orders'
        """
        for candidate in (schema,) if schema else self.search_path:
            if table := self._by_folded.get(fold_name(f"{candidate}.{name}", self.dialect)):
                return table
        return None

    def keep(self, tables: Iterable[Table]) -> Catalog:
        """The part of these tables, and of the keys between them."""
        kept = tuple(tables)
        return replace(
            self,
            tables=kept,
            foreign_keys=keep_keys(self.foreign_keys, kept),
            inferred_keys=keep_keys(self.inferred_keys, kept),
            skipped=(),
        )

    @cached_property
    def short_names(self) -> dict[str, str]:
        """Qualified name → the shortest SQL name under which the search path finds that table."""
        seen = Counter(fold_name(table.name, self.dialect) for table in self.tables)
        return {
            table.qualified: quote_name(table.name, self.dialect)
            if table.schema in self.search_path and seen[fold_name(table.name, self.dialect)] == 1
            else f"{quote_name(table.schema, self.dialect)}.{quote_name(table.name, self.dialect)}"
            for table in self.tables
        }

    @property
    def keys(self) -> tuple[ForeignKey, ...]:
        """The declared keys, then the inferred ones."""
        return (*self.foreign_keys, *self.inferred_keys)

    @cached_property
    def keys_from(self) -> dict[str, list[ForeignKey]]:
        """Qualified name → the keys that start at that table."""
        found: dict[str, list[ForeignKey]] = {}
        for key in self.keys:
            found.setdefault(key.table, []).append(key)
        return found

    @cached_property
    def shown_by(self) -> dict[tuple[str, str], list[tuple[str, str]]]:
        """Qualified table and column → the columns that show its values too."""
        found: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for table in self.tables:
            for column in table.columns:
                here = (table.qualified, column.name)
                for name in column.reads:
                    found.setdefault((table.qualified, name), []).append(here)
                for ancestor in table.ancestors:
                    if (parent := self.table(ancestor)) and parent.column(column.name):
                        found.setdefault(here, []).append((ancestor, column.name))
                        found.setdefault((ancestor, column.name), []).append(here)
        return found

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over all fields but ``skipped``: equal fingerprints need no new index."""
        digest = hashlib.sha256(repr((self.database, self.dialect, self.search_path)).encode())
        # Table by table: one text of 100,000 tables would take a gigabyte.
        for part in (*self.tables, *self.keys):
            digest.update(repr(part).encode())
        return digest.hexdigest()


_FIRST_NAMES = frozenset({"firstname", "fname", "forename", "givenname"})
_LAST_NAMES = frozenset({"lastname", "lname", "surname", "familyname"})
# "Dept" is short for "department", "dean" is not.
_ABBREVIATED = 3


def find_labels(table: Table) -> tuple[str, ...]:
    """The columns that name a table's rows; none if no column does.

    The column that is called like the table, its name, also after the table's words; the first and
    the last name of a person; its title; a name after abbreviations of the table's words.

    >>> find_labels(Table("hr", "department", (Column("no", "int"), Column("dept_name", "text"))))
    ('dept_name',)
    >>> find_labels(Table("hr", "staff", (Column("first_name", "text"), Column("surname", "text"))))
    ('first_name', 'surname')
    >>> find_labels(Table("hr", "staff", (Column("id", "int"), Column("dept_name", "text"))))
    ()
    """
    own = set(split_words(table.name))
    columns = {column.name: split_words(column.name) for column in table.columns}

    def is_called(words: Sequence[str], kind: str) -> bool:
        return words[-1] == kind and set(words[:-1]) <= own

    first = _find_first(columns, lambda words: "".join(words) in _FIRST_NAMES)
    last = _find_first(columns, lambda words: "".join(words) in _LAST_NAMES)
    return (
        _find_first(columns, lambda words: set(words) == own or is_called(words, "name"))
        or (first + last if first and last else ())
        or _find_first(columns, lambda words: is_called(words, "title"))
        or _find_first(
            columns,
            lambda words: words[-1] == "name" and all(_is_short(each, own) for each in words[:-1]),
        )
    )


def _find_first(
    columns: Mapping[str, Sequence[str]], is_meant: Callable[[Sequence[str]], bool]
) -> tuple[str, ...]:
    return next(((name,) for name, words in columns.items() if words and is_meant(words)), ())


def _is_short(word: str, own: Collection[str]) -> bool:
    """True if the word is one of the table's own, or leaves out letters of one but the first."""
    return word in own or any(
        len(word) >= _ABBREVIATED
        and whole.startswith(word[:_ABBREVIATED])
        and _is_subsequence(word, whole)
        for whole in own
    )


def _is_subsequence(part: str, whole: str) -> bool:
    letters = iter(whole)
    return all(letter in letters for letter in part)
