"""Reads the tables and columns in a model's answer: JSON, lists or lines, quoted or not.

Tolerant on purpose: small models seldom keep to a format. Unknown names are dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from nl2sql.types import SchemaContext

_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")
_SEPARATOR = re.compile(r"\s+[-\u2013(:]|[,;:(]")
_QUOTES = str.maketrans("", "", "\"`'[]")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_BEST_SCORE = 10.0


def read_names(text: str, context: SchemaContext) -> list[tuple[str, str]]:
    """Pairs of a qualified table and a column of it (empty for the table), each once, in order."""
    names = _Names(context)
    found: dict[tuple[str, str], None] = {}
    for piece in _pieces(text):
        resolved = names.resolve(piece)
        if resolved is None:
            parts = (names.resolve(part) for part in _SEPARATOR.split(piece))
            found.update(dict.fromkeys(part for part in parts if part is not None))
        else:
            found[resolved] = None
    return list(found)


def read_score(text: str) -> float | None:
    """The answer as a number from 0 to 1; None if it is not a score.

    >>> [read_score(text) for text in ("8", "Score: 10/10", "Yes.", "no", "I think", "42")]
    [0.8, 1.0, 1.0, 0.0, None, None]
    """
    if number := _NUMBER.search(text):
        score = float(number.group()) / _BEST_SCORE
        return score if score <= 1.0 else None
    word = text.strip().lower()
    if word.startswith("yes"):
        return 1.0
    return 0.0 if word.startswith("no") else None


class _Names:
    """The names of the retrieved tables and their columns, in the spellings of a model."""

    def __init__(self, context: SchemaContext) -> None:
        self._tables: dict[str, str] = {}
        self._columns: dict[str, dict[str, str]] = {}
        self._owners: dict[str, list[tuple[str, str]]] = {}
        for hit, name in zip(context.tables, context.names, strict=True):
            table = hit.table
            # A bare name that several tables have means the best ranked one.
            for spelling in (table.qualified, name, table.name):
                self._tables.setdefault(_fold(spelling), table.qualified)
            self._columns[table.qualified] = {
                _fold(column.name): column.name for column in table.columns
            }
            for column in table.columns:
                pair = (table.qualified, column.name)
                self._owners.setdefault(_fold(column.name), []).append(pair)

    def resolve(self, text: str) -> tuple[str, str] | None:
        """A table, a qualified column, or a column that only one table has."""
        name = _fold(text)
        if table := self._tables.get(name):
            return table, ""
        for at, sign in enumerate(name):
            if sign == "." and (table := self._tables.get(name[:at].strip())):
                column = self._columns[table].get(name[at + 1 :].strip())
                if column is not None:
                    return table, column
        owners = self._owners.get(name, [])
        return owners[0] if len(owners) == 1 else None


def _pieces(text: str) -> Iterator[str]:
    try:
        yield from _flatten(json.loads(text[_start_of_json(text) :]), "")
    except (ValueError, RecursionError):
        for line in text.splitlines():
            yield _BULLET.sub("", line).strip()


def _start_of_json(text: str) -> int:
    """Where JSON may begin. Raises ValueError if it begins nowhere."""
    return min(at for at in (text.find("{"), text.find("[")) if at >= 0)


def _flatten(value: Any, table: str) -> Iterator[str]:
    """The strings in JSON; those under a key may also be columns of the table of that name."""
    if isinstance(value, str):
        if table:
            yield f"{table}.{value}"
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _flatten(item, table)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _flatten(item, key)


def _fold(name: str) -> str:
    return name.translate(_QUOTES).strip().lower()
