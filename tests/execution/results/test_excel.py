"""Results as a workbook, read back from its XML."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from decimal import Decimal
from xml.etree import ElementTree

import pytest

from execution.results.exports import render_xlsx
from nl2sql.results.json_values import Interval
from nl2sql.types import ResultSet

_SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def read_cells(content: bytes) -> dict[str, tuple[str, str]]:
    """Reference → type (``n`` number, ``b`` boolean, ``s`` text) and content of each cell."""
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    found = {}
    for cell in sheet.iter(f"{_SPACE}c"):
        assert cell.find(f"{_SPACE}f") is None, "a formula"
        text = cell.find(f"{_SPACE}is")
        found[cell.get("r", "")] = (
            (cell.get("t", "n"), cell.findtext(f"{_SPACE}v", ""))
            if text is None
            else ("s", "".join(text.itertext()))
        )
    return found


@pytest.mark.parametrize(
    ("value", "kind", "content"),
    [
        (-12.5, "n", "-12.5"),
        (Decimal("-5"), "n", "-5"),
        (True, "b", "1"),
        (dt.date(2024, 3, 1), "n", "45352"),
        (dt.datetime(2024, 3, 1, 12), "n", "45352.5"),
        # What Excel would change is text.
        (2**60, "s", str(2**60)),
        (Decimal("0.12345678901234567"), "s", "0.12345678901234567"),
        (Decimal("1.00000000000000000000000000000001"), "s", "1.00000000000000000000000000000001"),
        (10**400, "s", str(10**400)),
        (float("nan"), "s", "NaN"),
        (dt.date(1899, 1, 1), "s", "1899-01-01"),
        (dt.datetime(2024, 3, 1, 12, tzinfo=dt.UTC), "s", "2024-03-01T12:00:00+00:00"),
        (Interval(1, 0, 0), "s", "P1M"),
        # And text stays text.
        ("00123", "s", "00123"),
        ("-5", "s", "-5"),
        ("=1+1", "s", "=1+1"),
        ("@SUM(1+1)*cmd|' /C calc'!A0", "s", "@SUM(1+1)*cmd|' /C calc'!A0"),
        ("https://example.com", "s", "https://example.com"),
        ("", "s", ""),
        ("a\ud800", "s", "a?"),
    ],
)
def test_a_cell_is_what_excel_can_hold_whole(value: object, kind: str, content: str) -> None:
    result = ResultSet(("=größe",), ("text",), ((value,), (None,)), truncated=False, ms=1.0)
    cells = read_cells(render_xlsx(result))
    assert cells == {"A1": ("s", "=größe"), "A2": (kind, content)}
