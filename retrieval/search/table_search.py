"""Searches the tables of one visible catalog for people: by parts of names and comments.

All words of the search must occur: in the table's name, a column's name, a comment or a gloss.
Tables whose names match come before those whose columns or comments do. Characters are matched as
they are, apart from case and accents: there are no wildcards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import NonNegativeInt, TypeAdapter

from nl2sql.catalog import Table
from nl2sql.words import drop_accents, fold_plural
from retrieval.cursors import read_cursor, write_cursor

# How many tables were on the pages before.
_SORT_KEY = TypeAdapter(tuple[NonNegativeInt])
# Further words of a search are ignored.
_MOST_WORDS = 6

# The ranks of tables: the searched name itself, names that begin with it, names, other texts.
_EXACT, _BEGINNING, _NAMED, _MENTIONED = range(4)


@dataclass(frozen=True, slots=True)
class FoundTables:
    """Positions in the catalog; ``next`` is the cursor of the next page, empty at the end."""

    positions: tuple[int, ...]
    next: str
    total: int


class TableSearch:
    """The tables of one visible catalog."""

    def __init__(self, tables: Sequence[Table], glosses: Sequence[str]) -> None:
        """``glosses`` has a text for each table."""
        self._positions = sorted(range(len(tables)), key=lambda at: tables[at].qualified)
        ordered = [(tables[at], glosses[at]) for at in self._positions]
        self._qualified = [_fold_line(table.qualified) for table, _ in ordered]
        self._short = [_fold_line(table.name) for table, _ in ordered]
        # A line for each text; no word of a search has a line break.
        self._texts = ["\n".join(map(_fold_line, _list_texts(*each))) for each in ordered]

    def find(self, search: str, after: str, most: int) -> FoundTables:
        """At most ``most`` tables after the cursor, best first, then by name.

        An empty search finds all. Raises InvalidRequest for a cursor of another origin.
        """
        whole = _fold_line(search)
        # "orders" finds order_lines too.
        parts = [*dict.fromkeys(map(fold_plural, whole.split()[:_MOST_WORDS]))]
        numbers: Iterable[int] = range(len(self._positions))
        for part in parts:
            numbers = [
                number
                for number in numbers
                if part in self._qualified[number] or part in self._texts[number]
            ]
        ranked = sorted((self._rank(number, whole, parts), number) for number in numbers)
        (start,) = read_cursor(after, _SORT_KEY) or (0,)
        end = start + most
        return FoundTables(
            tuple(self._positions[number] for _, number in ranked[start:end]),
            write_cursor(end) if end < len(ranked) else "",
            len(ranked),
        )

    def _rank(self, number: int, whole: str, parts: Sequence[str]) -> int:
        qualified, short = self._qualified[number], self._short[number]
        if not parts:
            return _NAMED
        if not {whole, whole.replace(" ", "_")}.isdisjoint((qualified, short)):
            return _EXACT
        if any(part not in qualified for part in parts):
            return _MENTIONED
        return _BEGINNING if short.startswith(parts[0]) else _NAMED


def _list_texts(table: Table, gloss: str) -> Iterable[str]:
    texts = dict.fromkeys((f"{table.comment} {gloss}",))
    for column in table.columns:
        texts |= {column.name: None, column.comment: None}
    return texts


def _fold_line(text: str) -> str:
    """The text on one line, in lower case and without accents, for comparing.

    >>> _fold_line("Größe  der Bestellung")
    'grosse der bestellung'
    """
    return " ".join(drop_accents(text.casefold()).lower().split())
