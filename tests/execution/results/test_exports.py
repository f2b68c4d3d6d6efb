"""Results as CSV and Markdown, read back by others' readers where there are some."""

from __future__ import annotations

import csv
import datetime as dt
import io
from decimal import Decimal

import pytest

from execution.results.exports import render_csv, render_markdown
from nl2sql.results.json_values import Interval
from nl2sql.types import ResultSet


def build(*rows: tuple[object, ...], columns: tuple[str, ...] = (), **options: object) -> ResultSet:
    names = columns or tuple(f"c{at}" for at in range(len(rows[0])))
    values = {"truncated": False, "ms": 1.0, **options}
    return ResultSet(names, ("text",) * len(names), rows, **values)  # type: ignore[arg-type]


# -- CSV ---------------------------------------------------------------------------------------


def test_csv_is_read_back_as_it_was() -> None:
    rows = (
        ("plain", 'with "quotes"', "a,b", "line\nbreak", "cr\rlf\r\n", " blanks ", "ünï"),
        ("", ";", "'", "=1+1", "-5", "\\", "tab\t"),
    )
    text = render_csv(build(*rows, columns=("a", 'b"', "c,d", "e\nf", "", "g", "g")))
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read == [["a", 'b"', "c,d", "e\nf", "", "g", "g"], *map(list, rows)]
    assert text.endswith("\r\n")


def test_csv_tells_null_from_empty_text() -> None:
    assert render_csv(build((None, "", None, 0))) == 'c0,c1,c2,c3\r\n,"",,0\r\n'
    # Most readers skip empty lines.
    assert render_csv(build((None,), ("",), ("x",))) == 'c0\r\n""\r\n""\r\nx\r\n'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (2**63 - 1, "9223372036854775807"),
        (Decimal("0.1234567890123456789"), "0.1234567890123456789"),
        (Decimal("12.50"), "12.50"),
        (Decimal("1E+30"), "1" + 30 * "0"),
        (Decimal("NaN"), "NaN"),
        (0.1, "0.1"),
        (float("inf"), "Infinity"),
        (dt.datetime(2025, 6, 30, 8, 30, tzinfo=dt.UTC), "2025-06-30T08:30:00+00:00"),
        (Interval(1, 0, 0), "P1M"),
        (b"\x00\xff", "00ff"),
        ([1, None], '"[1, null]"'),
        ({"a": "é"}, '"{""a"": ""é""}"'),
    ],
)
def test_csv_writes_values_whole(value: object, text: str) -> None:
    assert render_csv(build((value, 1))) == f"c0,c1\r\n{text},1\r\n"


@pytest.mark.parametrize(
    "marked",  # with a ^ for each apostrophe that is put before a sign
    "^=A(1)~^+1~^-1+cmd|' /C'!A0~^-5\n^=1~^@SUM(A1)~^\tx~^\rx~^＝1~^-~"  # noqa: RUF001
    # Many programs end a cell at these signs, within quotes too.
    'a;^=1;^-;b~a\t^+1~a;""^@A(1)~^\n^=1~a\r\n^-b'.split("~"),
)
def test_csv_defuses_formulas_when_asked_to(marked: str) -> None:
    text = marked.replace("^", "")
    numbers = (-5, Decimal("-1.5"), -0.5, float("-inf"), "-12.5", "-3e-7", "00123")
    result = build((text, *numbers, "a=1", None, ""))
    for spreadsheet_safe, expected in ((False, text), (True, marked.replace("^", "'"))):
        written = render_csv(result, spreadsheet_safe=spreadsheet_safe)
        # Excel reads UTF-8 as such after a byte order mark; other readers are spared it.
        assert written.startswith("\ufeff") is spreadsheet_safe
        row = list(csv.reader(io.StringIO(written, newline="")))[1]
        # Numbers are never changed, nor is text that is one.
        assert row[0] == expected
        assert row[1:8] == ["-5", "-1.5", "-0.5", "-Infinity", "-12.5", "-3e-7", "00123"]
        assert row[8:] == ["a=1", "", ""]
        assert written.endswith('a=1,,""\r\n')


def test_csv_defuses_the_names_of_columns_too() -> None:
    text = render_csv(build((1,), columns=("=cmd|' /C calc'!A0",)), spreadsheet_safe=True)
    assert text.startswith("\ufeff'=cmd")


# -- Markdown ----------------------------------------------------------------------------------


def test_markdown_is_a_table() -> None:
    result = build(
        (1, "Ann", None), (-2.4999999999999996, "Bob", True), columns=("n", "name", "note")
    )
    assert render_markdown(result) == (
        "| n | name | note |\n| ---: | --- | --- |\n| 1 | Ann | NULL |\n| -2.5 | Bob | true |\n"
    )


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("a|b", "a\\|b"),
        ("a\\|b", "a\\\\\\|b"),
        ("line\nbreak", "line<br>break"),
        ("line\r\nbreak\u2028end", "line<br>break<br>end"),
        ("<script>alert(1)</script>", "\\<script\\>alert(1)\\</script\\>"),
        ("![x](http://evil/?q)", "\\!\\[x\\]\\(http:/\\/evil/?q)"),
        ("**bold** _it_ `code`", "\\*\\*bold\\*\\* \\_it\\_ \\`code\\`"),
        ("order_dt __x__", "order_dt \\_\\_x\\_\\_"),
        ("&lt;", "\\&lt;"),
        ("  padded  ", "padded"),
    ],
)
def test_markdown_cells_hold_no_markup(text: str, cell: str) -> None:
    rendered = render_markdown(build((text, "x"), columns=("a", "b")))
    assert rendered.splitlines()[2] == f"| {cell} | x |"
    assert render_markdown(build((1,), columns=(text,))).splitlines()[0] == f"| {cell} |"


def test_markdown_tells_what_is_left_out() -> None:
    text = render_markdown(build(("x",), truncated=True, cut=((0, 0),)))
    assert text.endswith("| x |\n\nThere are more rows.\n\nCells too long to show whole: 1.\n")
