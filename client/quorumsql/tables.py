"""An answer's rows as a table: of Arrow, of pandas, of HTML.

Rows travel as JSON, in which dates and long numbers are text; the database's type of a column says
what they were. A column in which one value does not fit its type stays as it came: no value is ever
changed to fit. pyarrow and pandas are imported when they are asked for.
"""

from __future__ import annotations

import datetime as dt
import html
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from quorumsql.contract.answers import AnsweredResponse

_INTEGERS = ("int2", "int4", "int8", "smallint", "integer", "bigint", "tinyint", "oid", "hugeint")
_DECIMALS = ("numeric", "decimal")
_FLOATS = ("float4", "float8", "real", "double", "double precision", "float")
_TIMESTAMPS = (
    "timestamp",
    "timestamptz",
    "timestamp with time zone",
    "timestamp without time zone",
)
# A notebook shows the beginning; the rest is in to_pandas().
_MOST_SHOWN = 50


def _read_date(value: str) -> dt.date:
    return dt.date.fromisoformat(value)


def _read_decimal(value: float | str) -> Decimal:
    # repr gives back the digits that the database wrote.
    return Decimal(value if isinstance(value, str) else repr(value))


def _find_reader(kind: str) -> Callable[[Any], Any] | None:
    """What reads a JSON value of that database type; None where it is itself."""
    name = kind.lower().partition("(")[0].strip()
    if name in _INTEGERS:
        return int
    if name in _DECIMALS:
        return _read_decimal
    if name in _FLOATS:
        return float
    if name == "date":
        return _read_date
    if name in _TIMESTAMPS:
        return dt.datetime.fromisoformat
    return None


def read_column(values: Sequence[Any], kind: str) -> list[Any]:
    """The values of a column as Python's; as they came where one of them does not fit.

    >>> read_column(["2026-01-31", None], "date")
    [datetime.date(2026, 1, 31), None]
    >>> read_column(["2026-01-31", "infinity"], "date")
    ['2026-01-31', 'infinity']
    >>> read_column([1.5, "0.1234567890123456789"], "numeric(30,19)")
    [Decimal('1.5'), Decimal('0.1234567890123456789')]
    """
    reader = _find_reader(kind)
    if reader is None:
        return list(values)
    try:
        return [None if value is None else reader(value) for value in values]
    except (ValueError, TypeError, ArithmeticError):
        return list(values)


def name_columns(answer: AnsweredResponse) -> list[str]:
    """The names of the columns; of those with one name, the second is called ``name_2``."""
    names: list[str] = []
    for column in answer.columns:
        name, number = str(column.name), 2
        while name in names:
            name, number = f"{column.name}_{number}", number + 1
        names.append(name)
    return names


def to_arrow(answer: AnsweredResponse) -> pa.Table:
    """The rows as an Arrow table. Raises ImportError without pyarrow."""
    import pyarrow as pa

    arrays = []
    for position, column in enumerate(answer.columns):
        raw = [row[position] for row in answer.rows]
        try:
            arrays.append(pa.array(read_column(raw, str(column.type))))
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # mixed kinds, as SQLite allows
            arrays.append(pa.array([None if value is None else str(value) for value in raw]))
    return pa.table(arrays, names=name_columns(answer))


def to_pandas(answer: AnsweredResponse) -> pd.DataFrame:
    """The rows as a data frame. Raises ImportError without pandas."""
    import pandas as pd

    columns = {
        name: read_column([row[position] for row in answer.rows], str(column.type))
        for position, (name, column) in enumerate(
            zip(name_columns(answer), answer.columns, strict=True)
        )
    }
    return pd.DataFrame(columns)


def render_answer(answer: AnsweredResponse) -> str:
    """The answer as HTML, for a notebook: the sentence, the first rows, the query."""
    hidden = len(answer.rows) - _MOST_SHOWN
    more = f"{hidden} more rows in to_pandas(). " if hidden > 0 else ""
    more += "The database has more rows than these. " if answer.truncated else ""
    quorum = "with a quorum" if answer.quorum else "without a quorum"
    return (
        f"<p>{_escape(answer.text)}</p>"
        f"{_render_rows(answer)}"
        f"<p>{more}Confidence {answer.confidence:.2f}, {quorum}.</p>"
        f"<details><summary>SQL</summary><pre>{_escape(answer.sql)}</pre></details>"
    )


def _render_rows(answer: AnsweredResponse) -> str:
    head = "".join(f"<th>{_escape(column.name)}</th>" for column in answer.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_escape(_show(value))}</td>" for value in row) + "</tr>"
        for row in answer.rows[:_MOST_SHOWN]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _show(value: Any) -> str:
    return "" if value is None else str(value)


def _escape(text: object) -> str:
    return html.escape(str(text))
