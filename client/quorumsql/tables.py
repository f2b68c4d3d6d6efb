"""An answer's rows as a data frame of pandas.

Rows travel as JSON, in which dates and long numbers are text; the database's type of a column says
what they were. A column in which one value does not fit its type stays as it came: no value is ever
changed to fit. pandas is imported when it is asked for.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from quorumsql.contract.answers import AnsweredResponse


_INTEGERS = ("int2", "int4", "int8", "smallint", "integer", "bigint", "tinyint", "oid", "hugeint")
# The first word of the database's name of a type → what reads its JSON values; all others are as
# they came.
_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_INTEGERS, int),
    **dict.fromkeys(("numeric", "decimal"), lambda value: Decimal(str(value))),
    **dict.fromkeys(("float4", "float8", "real", "double", "float"), float),
    "date": dt.date.fromisoformat,
    **dict.fromkeys(("timestamp", "timestamptz"), dt.datetime.fromisoformat),
}


def _read_column(values: Sequence[Any], kind: str) -> list[Any]:
    """The values of a column as Python's; as they came where one of them does not fit.

    >>> _read_column(["2026-01-31", None], "date")
    [datetime.date(2026, 1, 31), None]
    >>> _read_column(["2026-01-31", "infinity"], "date")
    ['2026-01-31', 'infinity']
    >>> _read_column([1.5, "0.1234567890123456789"], "numeric(30,19)")
    [Decimal('1.5'), Decimal('0.1234567890123456789')]
    """
    reader = _READERS.get(re.split(r"\W", kind.strip().lower(), maxsplit=1)[0])
    if reader is None:
        return list(values)
    try:
        return [None if value is None else reader(value) for value in values]
    except (ValueError, TypeError, ArithmeticError):
        return list(values)


def _name_columns(answer: AnsweredResponse) -> list[str]:
    """The names of the columns; of those with one name, the second is called ``name_2``."""
    names: list[str] = []
    for column in answer.columns:
        name, number = str(column.name), 2
        while name in names:
            name, number = f"{column.name}_{number}", number + 1
        names.append(name)
    return names


def to_pandas(answer: AnsweredResponse) -> pd.DataFrame:
    """The rows as a data frame. Raises ImportError without pandas."""
    import pandas as pd

    columns = {
        name: _read_column([row[position] for row in answer.rows], str(column.type))
        for position, (name, column) in enumerate(
            zip(_name_columns(answer), answer.columns, strict=True)
        )
    }
    return pd.DataFrame(columns)
