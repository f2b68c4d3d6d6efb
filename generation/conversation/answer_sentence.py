"""Describes a result in one sentence, by rule and without a model.

This is the default wording of an answer, and the fallback if the model's wording is rejected. It
names cells only if they are few and plain. Text from cells is always in quotation marks, so that it
cannot be mistaken for the service's own words.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

from nl2sql.results.json_values import to_json_value
from nl2sql.types import ResultSet

_MOST_VALUES = 5
_MOST_COLUMNS = 6
_LONGEST_CELL = 60
# What a column is called to which the query gives no name; the second by PostgreSQL.
_NAMELESS = ("", "?column?")
# Signs of markup, links and code, and the quotation marks around cells.
_UNSAYABLE = ("<", ">", "`", "://", "www.", "](", "“", "”", "\\", "{", "}")


def is_small(result: ResultSet) -> bool:
    """Whether the result has so few cells that the sentence names all of them."""
    rows, columns = len(result.rows), len(result.columns)
    if result.truncated or result.cut:
        return False
    return (rows == 1 and columns <= _MOST_COLUMNS) or (rows <= _MOST_VALUES and columns == 1)


def render_sentence(result: ResultSet) -> str:
    """The sentence; empty if there are no rows.

    >>> render_sentence(ResultSet(("count",), ("int8",), ((336,),), False, 1.0))
    'Answer: 336.'
    >>> render_sentence(ResultSet(("name", "n"), ("text", "int8"), (("Ann", 3),), False, 1.0))
    'name: “Ann”; n: 3.'
    """
    if not result.rows:
        return ""
    if is_small(result):
        sentence = _render_row(result) if len(result.rows) == 1 else _render_values(result)
        if sentence:
            return sentence
    return _render_count(result)


def say_value(value: object) -> str | None:
    """The text of a cell for a sentence; None if it must not be in one.

    >>> say_value("Ann"), say_value(Decimal("12.50")), say_value(None), say_value("<b>")
    ('“Ann”', '12.50', 'no value', None)
    """
    if value is None:
        return "no value"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return f"“{value}”" if is_sayable(value) else None
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() and abs(value.adjusted()) < 40 else None
    if isinstance(value, int | float | dt.date | dt.time | dt.timedelta):
        return str(to_json_value(value))
    return None


def is_sayable(text: str) -> bool:
    """Whether a cell's text or a column's name is short, plain and on one line."""
    return (
        0 < len(text) <= _LONGEST_CELL
        and text.isprintable()
        and not any(sign in text.lower() for sign in _UNSAYABLE)
    )


def name_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """The names for a reader: a column without one is the value, or is called by its position.

    >>> name_columns(("name", "?column?")), name_columns(("?column?", "n", "?column?"))
    (('name', 'value'), ('column 1', 'n', 'column 3'))
    """
    nameless = sum(name in _NAMELESS for name in columns)
    return tuple(
        name if name not in _NAMELESS else "value" if nameless == 1 else f"column {position}"
        for position, name in enumerate(columns, start=1)
    )


def _render_row(result: ResultSet) -> str:
    values = [say_value(value) for value in result.rows[0]]
    names = [name if is_sayable(name) else "" for name in name_columns(result.columns)]
    if len(values) == 1:
        return f"Answer: {values[0]}." if values[0] else ""
    pairs = list(zip(names, values, strict=True))
    if not all(name and value for name, value in pairs):
        return ""
    return "; ".join(f"{name}: {value}" for name, value in pairs) + "."


def _render_values(result: ResultSet) -> str:
    values = [value for row in result.rows if (value := say_value(row[0]))]
    count = len(result.rows)
    return f"{count} values: {', '.join(values)}." if len(values) == count else ""


def _render_count(result: ResultSet) -> str:
    count = len(result.rows)
    is_nameless = len(result.columns) == 1 and result.columns[0] in _NAMELESS
    what = f"{count} {'value' if is_nameless else 'row'}{'' if count == 1 else 's'}"
    of = "" if is_nameless else _name_all(result.columns)
    return f"The first {what}{of}; there are more." if result.truncated else f"{what}{of}."


def _name_all(columns: Sequence[str]) -> str:
    names = [name for name in name_columns(columns) if is_sayable(name)]
    whole = len(names) == len(columns) <= _MOST_COLUMNS
    return f" with {_join(names)}" if whole else f" of {len(columns)} columns"


def _join(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
