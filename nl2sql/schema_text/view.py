"""Selects what is shown of a context: tables and columns, their names and their comments."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter

from nl2sql.catalog import Column, ForeignKey, Table
from nl2sql.sql.names import quote_name
from nl2sql.types import RetrievedTable, SchemaContext

_LONGEST_COMMENT = 240
# The type of a DuckDB enumeration lists its values; SQLite accepts any text as a type.
_LONGEST_TYPE = 120
# A length helps no query, and costs as many tokens as the type's name.
_LENGTH = re.compile(r"\s*\([\d\s,]*\)")
_SHORT_TYPES = {
    "character varying": "varchar",
    "character": "char",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamptz",
    "time without time zone": "time",
}
_ORDER_OF_KEYS = attrgetter("inferred", "table", "columns", "target", "target_columns")


@dataclass(frozen=True)
class SchemaView:
    """The part of ``context`` that is shown.

    ``columns`` maps a qualified table name to the columns that are kept; other tables keep all.
    ``left_out`` names tables (``schema.table``) and columns (``schema.table.column``) that are not
    shown. ``comments`` switches the database's comments; the glosses of ``context`` are always
    shown.
    """

    context: SchemaContext
    columns: Mapping[str, Collection[str]] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    comments: bool = True

    @cached_property
    def _names(self) -> dict[str, str]:
        pairs = zip(self.context.tables, self.context.names, strict=True)
        return {hit.table.qualified: name for hit, name in pairs}

    @cached_property
    def _shown(self) -> dict[str, tuple[Column, ...]]:
        return {hit.table.qualified: self._choose_columns(hit.table) for hit in self.hits}

    @cached_property
    def _glosses(self) -> dict[str, list[str]]:
        glosses: dict[str, list[str]] = {}
        for name, text in self.context.glosses:
            glosses.setdefault(name, []).append(text)
        return glosses

    def _choose_columns(self, table: Table) -> tuple[Column, ...]:
        name = table.qualified
        kept = self.columns.get(name)
        return tuple(
            column
            for column in table.columns
            if (kept is None or column.name in kept)
            and f"{name}.{column.name}" not in self.left_out
        )

    @property
    def hits(self) -> tuple[RetrievedTable, ...]:
        """The tables that are shown, best first."""
        return tuple(hit for hit in self.context.tables if hit.table.qualified not in self.left_out)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that are shown, shared ones first, then by name."""
        tables = (hit.table for hit in self.hits)
        return tuple(
            sorted(tables, key=lambda table: (not self.is_shared(table.qualified), table.qualified))
        )

    def is_shared(self, qualified: str) -> bool:
        """Whether the table is shown for other questions too, with the same text."""
        return qualified in self.context.shared

    def is_short(self, qualified: str) -> bool:
        """Whether the table is written without types."""
        return any(hit.short for hit in self.hits if hit.table.qualified == qualified)

    @property
    def keys(self) -> tuple[ForeignKey, ...]:
        """The keys whose columns are all shown, declared ones before inferred ones, by name."""
        shown = {name: {column.name for column in columns} for name, columns in self._shown.items()}
        keys = [
            key
            for key in self.context.foreign_keys
            if shown.get(key.table, set()).issuperset(key.columns)
            and shown.get(key.target, set()).issuperset(key.target_columns)
            and key.target in shown
        ]
        return tuple(sorted(keys, key=_ORDER_OF_KEYS))

    def columns_of(self, table: Table) -> tuple[Column, ...]:
        """The columns of ``table`` that are shown, in the table's order."""
        return self._shown[table.qualified]

    def name(self, qualified: str) -> str:
        """The table's SQL name."""
        return self._names[qualified]

    def quote(self, column: str) -> str:
        """The column's SQL name."""
        return quote_name(column, self.context.dialect)

    def quote_list(self, columns: tuple[str, ...]) -> str:
        """The columns' SQL names, with commas."""
        return ", ".join(self.quote(column) for column in columns)

    @property
    def is_brief(self) -> bool:
        """Whether tables are written on one line, because only part of the database is shown.

        A database that is shown whole has a line for each column: of 56 questions on Spider's small
        ones, the 0.5B model got seven right that it did not get in the brief form, and lost none.
        """
        return not self.context.is_whole

    def type_of(self, column: Column) -> str:
        """The column's type on one line, in its shortest spelling."""
        kind = shorten(column.type, _LONGEST_TYPE)
        # The brackets hold a length, or the values of an enumeration, which queries need.
        plain = kind if "'" in kind else _LENGTH.sub("", kind)
        return _SHORT_TYPES.get(plain.lower(), plain)

    def describe(self, name: str, comment: str) -> tuple[str, ...]:
        """The comment and the glosses of ``schema.table`` or ``schema.table.column``.

        Each is on one line, shortened to fit beside the name.
        """
        own = comment if self.comments else ""
        texts = [shorten(text) for text in (own, *self._glosses.get(name, ()))]
        *others, last = dict.fromkeys(text for text in texts if text) or [""]
        # All are joined on one line, so only the last keeps its full stop.
        return (*(text.rstrip(".") for text in others), last) if last else ()


def shorten(text: str, longest: int = _LONGEST_COMMENT) -> str:
    """The text on one line, cut where it is longer than ``longest`` characters.

    >>> shorten("many\\n words  here", 12)
    'many words …'
    """
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
