"""Renders a result for other programs: CSV, a Markdown table, a workbook of Excel.

Values are written as ``nl2sql.results.json_values`` writes them for JSON, except that numbers keep
every digit. The caller must say elsewhere that rows were left out.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from nl2sql.results.json_values import round_shown, to_json_value
from nl2sql.types import ResultSet

# Where a formula starts in a spreadsheet (OWASP, "CSV Injection"): many also split a line at
# ";" and tab, within quotes too. A negative number is none.
_FORMULA = re.compile(r'\A(?=[\t\r\n])|(\A|[;\t\r\n]"*)(?=[-=+@＝＋－＠])')  # noqa: RUF001
_NEGATIVE = re.compile(r"-(\d+(\.\d+)?([eE][+-]?\d+)?|Infinity)", re.ASCII)
_CSV_SPECIAL = frozenset('",\r\n')
# The characters that Markdown could read as markup; a backslash before them prevents that.
_MARKDOWN_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\`*[]<>|~&!#$@"})
# Between letters it is none, and names are full of them.
_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
# Links are broken twice, for readers that heed no backslash; addresses where readers look for them:
# two slashes, of which a third would be left over at the first look.
_SLASHES = ("//", "/\\/")
_LINKS = (("](", "]\\("), _SLASHES, _SLASHES, ("www.", "www\\."))
_NUMBERS = (int, float, Decimal)
_PIECE_CHARS = 10_000
# What Excel holds whole.
_MOST_DIGITS, _MOST_EXPONENT, _FIRST_YEAR = 15, 300, 1900


def render_csv(result: ResultSet, *, spreadsheet_safe: bool = False) -> str:
    r"""RFC 4180: a header, fields in quotes where they need them, lines that end in CR LF.

    NULL is an empty field and an empty text a pair of quotes; in a result of one column both are a
    pair of quotes, since most readers skip empty lines. ``spreadsheet_safe`` begins with a byte
    order mark, without which Excel reads UTF-8 wrongly, and puts an apostrophe before text that a
    spreadsheet would run as a formula, never before a number; it changes the data.

    >>> result = ResultSet(("a", "b"), ("int4", "text"), ((1, 'x"y'), (None, "=1+1")), False, 0)
    >>> render_csv(result)
    'a,b\r\n1,"x""y"\r\n,=1+1\r\n'
    """
    lines = [result.columns, *result.rows]
    mark = "\ufeff" if spreadsheet_safe else ""
    return mark + "".join(
        ",".join(_quote(value, len(row) == 1, spreadsheet_safe) for value in row) + "\r\n"
        for row in lines
    )


def render_markdown(result: ResultSet) -> str:
    """A table in GitHub's Markdown; numbers are aligned to the right.

    Everything in a cell that Markdown or HTML could read as markup is escaped; a line break becomes
    ``<br>``. A line below says what was left out.
    """
    lines = [
        _render_line([escape_markdown(name) for name in result.columns]),
        _render_line(
            ["---:" if _is_numeric(result, at) else "---" for at in range(len(result.columns))]
        ),
        *(_render_line([_render_cell(value) for value in row]) for row in result.rows),
    ]
    if result.truncated:
        lines += ["", "There are more rows."]
    if result.cut:
        lines += ["", f"Cells too long to show whole: {len(result.cut)}."]
    return "\n".join(lines) + "\n"


def render_text(value: object) -> str:
    """A value as the text of a cell; the caller decides about None.

    >>> render_text(Decimal("1.50")), render_text(True), render_text([1, None])
    ('1.50', 'true', '[1, null]')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < 1000:
        return format(value, "f")
    if isinstance(value, int):
        return str(value)
    plain = to_json_value(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _quote(value: object, alone: bool, spreadsheet_safe: bool) -> str:
    if value is None:
        return '""' if alone else ""
    text = render_text(value)
    if spreadsheet_safe and not _NEGATIVE.fullmatch(text):
        text = _FORMULA.sub(r"\1'", text)
    needs_quotes = not text or text != text.strip() or not _CSV_SPECIAL.isdisjoint(text)
    return '"' + text.replace('"', '""') + '"' if needs_quotes else text


def _render_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _render_cell(value: object) -> str:
    return "NULL" if value is None else escape_markdown(render_text(round_shown(value)))


def escape_markdown(text: str) -> str:
    r"""The text on one line of Markdown in which nothing is markup: no link, image, fence or HTML.

    >>> print(escape_markdown("![x](https://a.example/?q)\n```"))
    \!\[x\]\(https:/\/a.example/?q)<br>\`\`\`
    >>> print(escape_markdown("www.a.example, ada@a.example"))
    www\.a.example, ada\@a.example
    """
    # In pieces: one call over a long cell would keep other threads waiting.
    pieces = (text[at : at + _PIECE_CHARS] for at in range(0, len(text), _PIECE_CHARS))
    escaped = "".join(
        _UNDERSCORE.sub(r"\\_", piece.translate(_MARKDOWN_SPECIAL)) for piece in pieces
    )
    for sign, broken in _LINKS:
        escaped = escaped.replace(sign, broken)
    return "<br>".join(escaped.strip().splitlines())


def _is_numeric(result: ResultSet, column: int) -> bool:
    values = [row[column] for row in result.rows if row[column] is not None]
    return bool(values) and all(
        isinstance(value, _NUMBERS) and not isinstance(value, bool) for value in values
    )


def render_xlsx(result: ResultSet) -> bytes:
    """A workbook of Excel with one sheet: the names of the columns, then the rows, by XlsxWriter.

    NULL is an empty cell. Text is text: no cell is a formula or a link, and ``00123`` keeps its
    zeros. A number, date or time is one where Excel can hold it whole; all others are text: numbers
    of more than 15 digits, dates before 1900, times with a zone or with microseconds. Excel cuts a
    text after 32,767 characters.
    """
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
    if not number.is_finite() or abs(number.adjusted()) > _MOST_EXPONENT:
        return False
    digits = "".join(map(str, number.as_tuple().digits))
    return len(digits.rstrip("0")) <= _MOST_DIGITS


def _is_whole_time(value: Any) -> bool:
    if not isinstance(value, dt.date) or value.year < _FIRST_YEAR:
        return False
    return not isinstance(value, dt.datetime) or (value.tzinfo is None and not value.microsecond)


def _clean(text: str) -> str:
    """The text without lone surrogates, which no file can hold."""
    return text.encode(errors="replace").decode()
