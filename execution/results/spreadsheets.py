"""Writes a result as a workbook of Excel (XLSX), by XlsxWriter.

Text is text: no cell is a formula or a link, and ``00123`` keeps its zeros. A number, date or time
is one where Excel can hold it whole; all others are text: numbers of more than 15 digits, dates
before 1900, times with a zone or with microseconds. Excel cuts a text after 32,767 characters.
"""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal
from typing import Any

from execution.results.exports import render_text
from nl2sql.types import ResultSet

_MOST_DIGITS = 15
_FIRST_YEAR = 1900


def render_xlsx(result: ResultSet) -> bytes:
    """A workbook with one sheet: the names of the columns, then the rows; NULL is an empty cell."""
    import xlsxwriter

    output = io.BytesIO()
    # Each row goes to a temporary file: an object for each cell would stop the event loop whenever
    # Python looks for garbage.
    book = xlsxwriter.Workbook(output, {"constant_memory": True})
    sheet = book.add_worksheet("rows")
    date = book.add_format({"num_format": "yyyy-mm-dd"})
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
    for at, name in enumerate(result.columns):
        sheet.write_string(0, at, _clean(name))
    for number, row in enumerate(result.rows, 1):
        for at, value in enumerate(row):
            if isinstance(value, bool):
                sheet.write_boolean(number, at, value)
            elif _is_whole_number(value):
                sheet.write_number(number, at, value)
            elif _is_whole_time(value):
                form = moment if isinstance(value, dt.datetime) else date
                sheet.write_datetime(number, at, value, form)
            elif value is not None:
                sheet.write_string(number, at, _clean(render_text(value)))
    sheet.freeze_panes(1, 0)
    book.close()
    return output.getvalue()


def _is_whole_number(value: Any) -> bool:
    """Whether Excel shows every digit of it.

    >>> list(map(_is_whole_number, (5, -12.5, 2**60, float("nan"), Decimal("0.1234567890123456"))))
    [True, True, False, False, False]
    """
    if not isinstance(value, int | float | Decimal):
        return False
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return number.is_finite() and len(number.normalize().as_tuple().digits) <= _MOST_DIGITS


def _is_whole_time(value: Any) -> bool:
    if not isinstance(value, dt.date) or value.year < _FIRST_YEAR:
        return False
    return not isinstance(value, dt.datetime) or (value.tzinfo is None and not value.microsecond)


def _clean(text: str) -> str:
    """The text without lone surrogates, which no file can hold."""
    return text.encode(errors="replace").decode()
