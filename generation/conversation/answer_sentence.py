"""Describes a result in one sentence, by rule and without a model.

This is the default wording of an answer, and the fallback if the model's wording is rejected. It
names cells only if they are few and plain. Text from cells is always in quotation marks, so that it
cannot be mistaken for the service's own words.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, cast

from generation.conversation.headings import NAMELESS, name_columns
from nl2sql.languages import Language
from nl2sql.results.json_values import to_json_value
from nl2sql.types import ResultSet
from nl2sql.yaml_file import read_packaged

_MOST_VALUES = 5
_MOST_COLUMNS = 6
_LONGEST_CELL = 60
_MOST_DIGITS = 40
# Signs of markup, links and code, and the quotation marks around cells.
_UNSAYABLE = ("<", ">", "`", "://", "www.", "](", "“", "”", "\\", "{", "}")


def is_small(result: ResultSet) -> bool:
    """Whether the result has so few cells that the sentence names all of them."""
    rows, columns = len(result.rows), len(result.columns)
    if result.truncated or result.cut:
        return False
    return (rows == 1 and columns <= _MOST_COLUMNS) or (rows <= _MOST_VALUES and columns == 1)


def render_sentence(result: ResultSet, language: Language = "en") -> str:
    """The sentence; empty if there are no rows.

    >>> render_sentence(ResultSet(("count",), ("int8",), ((336,),), False, 1.0))
    'Answer: 336.'
    >>> render_sentence(ResultSet(("name", "n"), ("text", "int8"), (("Ann", 3),), False, 1.0))
    'name: “Ann”; n: 3.'
    """
    if not result.rows:
        return ""
    said = _load_sentences(language)
    if is_small(result):
        render = _render_row if len(result.rows) == 1 else _render_values
        if sentence := render(result, said):
            return sentence
    return _render_count(result, said)


def is_sayable(text: str) -> bool:
    """Whether a cell's text or a column's name is short, plain and on one line."""
    return (
        0 < len(text) <= _LONGEST_CELL
        and text.isprintable()
        and not any(sign in text.lower() for sign in _UNSAYABLE)
    )


@cache
def _load_sentences(language: Language) -> Mapping[str, Any]:
    """The templates of a language (``sentences.yaml``)."""
    return cast("Mapping[str, Any]", read_packaged(__package__, "sentences.yaml")[language])


def _render_row(result: ResultSet, said: Mapping[str, Any]) -> str:
    units = result.units or ("",) * len(result.columns)
    values = [_say_value(*cell, said) for cell in zip(result.rows[0], units, strict=True)]
    names = [name if is_sayable(name) else "" for name in name_columns(result.columns)]
    if len(values) == 1:
        return said["answer"].format(value=values[0]) if values[0] else ""
    pairs = list(zip(names, values, strict=True))
    if not all(name and value for name, value in pairs):
        return ""
    return "; ".join(f"{name}: {value}" for name, value in pairs) + "."


def _render_values(result: ResultSet, said: Mapping[str, Any]) -> str:
    values = [
        value for row in result.rows if (value := _say_value(row[0], "".join(result.units), said))
    ]
    if len(values) < len(result.rows):
        return ""
    return str(said["values"].format(count=len(values), values=", ".join(values)))


def _render_count(result: ResultSet, said: Mapping[str, Any]) -> str:
    count = len(result.rows)
    is_nameless = len(result.columns) == 1 and result.columns[0] in NAMELESS
    forms = said["nameless" if is_nameless else "rows"]
    what = forms[count != 1].format(count=count)
    if not is_nameless:
        names = [name for name in name_columns(result.columns) if is_sayable(name)]
        if len(names) == len(result.columns) <= _MOST_COLUMNS:
            what = said["with"].format(what=what, names=_join(names, said["and"]))
        else:
            what = said["wide"].format(what=what, columns=len(result.columns))
    return str(said["first" if result.truncated else "all"].format(what=what))


def _say_value(value: object, unit: str, said: Mapping[str, Any]) -> str | None:
    """The text of a cell for a sentence; None if it must not be in one.

    A number with a unit is written with the language's marks between thousands and before decimals.
    """
    if value is None:
        return str(said["none"])
    if isinstance(value, bool):
        return str(said["true" if value else "false"])
    if isinstance(value, str):
        return f"“{value}”" if is_sayable(value) else None
    number = _read_number(value)
    if unit and number is not None:
        marks = dict(zip(map(ord, ",."), said["marks"], strict=True))
        return f"{f'{number:,f}'.translate(marks)} {unit}"
    if isinstance(value, Decimal):
        return None if number is None else format(value, "f")
    if isinstance(value, int | float | dt.date | dt.time | dt.timedelta):
        return str(to_json_value(value))
    return None


def _read_number(cell: object) -> Decimal | None:
    """The number in a cell; None for anything else, and for what is not finite."""
    if not isinstance(cell, int | float | Decimal):
        return None
    number = Decimal(str(cell))
    return number if number.is_finite() and abs(number.adjusted()) < _MOST_DIGITS else None


def _join(names: Sequence[str], last: str) -> str:
    return last.join(filter(None, (", ".join(names[:-1]), names[-1])))
