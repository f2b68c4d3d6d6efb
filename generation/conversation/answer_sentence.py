"""What a result says, in one sentence that is made by rule and costs nothing.

The default wording of an answer, and what stands in where the model's own does not pass. It names
cells only where they are few and plain; text of a cell always stands in quotation marks, so that
nobody takes it for the service's own words.
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
# Signs of markup, links and code, and the quotation marks that a cell stands in.
_UNSAYABLE = ("<", ">", "`", "://", "www.", "](", "“", "”", "\\", "{", "}")


def is_small(result: ResultSet) -> bool:
    """Few enough cells that the sentence names all of them."""
    rows, columns = len(result.rows), len(result.columns)
    if result.truncated or result.cut:
        return False
    return (rows == 1 and columns <= _MOST_COLUMNS) or (rows <= _MOST_VALUES and columns == 1)


def render_sentence(result: ResultSet) -> str:
    """The sentence; empty where there are no rows.

    >>> render_sentence(ResultSet(("count",), ("int8",), ((336,),), False, 1.0))
    'Answer: 336.'
    >>> render_sentence(ResultSet(("name", "n"), ("text", "int8"), (("Ann", 3),), False, 1.0))
    'name: “Ann”; n: 3.'
    """
    if not result.rows:
        return ""
    if is_small(result):
        told = _tell_row(result) if len(result.rows) == 1 else _tell_values(result)
        if told:
            return told
    return _tell_count(result)


def say_value(value: object) -> str | None:
    """A cell as it may stand in a sentence, None where it may not.

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
    """Whether a text of a cell or the name of a column is short, plain and on one line."""
    return (
        0 < len(text) <= _LONGEST_CELL
        and text.isprintable()
        and not any(sign in text.lower() for sign in _UNSAYABLE)
    )


def _tell_row(result: ResultSet) -> str:
    values = [say_value(value) for value in result.rows[0]]
    names = [name if is_sayable(name) else "" for name in result.columns]
    if len(values) == 1:
        return f"Answer: {values[0]}." if values[0] else ""
    pairs = list(zip(names, values, strict=True))
    if not all(name and value for name, value in pairs):
        return ""
    return "; ".join(f"{name}: {value}" for name, value in pairs) + "."


def _tell_values(result: ResultSet) -> str:
    values = [say_value(row[0]) for row in result.rows]
    told = [value for value in values if value]
    return f"{len(values)} values: {', '.join(told)}." if len(told) == len(values) else ""


def _tell_count(result: ResultSet) -> str:
    count = len(result.rows)
    rows = f"{count} row" if count == 1 else f"{count} rows"
    names = [name for name in result.columns if is_sayable(name)]
    whole = len(names) == len(result.columns) <= _MOST_COLUMNS
    of = f" with {_join(names)}" if whole else f" of {len(result.columns)} columns"
    more = f"The first {rows}{of}; there are more." if result.truncated else f"{rows}{of}."
    return more


def _join(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
