"""Rows as Arrow, pandas and HTML: the types of the database, and no value changed to fit."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from quorumsql.contract import AnsweredResponse, read_response


def build_answer(*columns: tuple[str, str], rows: list[list[Any]], **changes: Any) -> Any:
    body = {
        "outcome": "answered",
        "question": "Q?",
        "database": "shop",
        "sql": "SELECT <b>",
        "confidence": 0.5,
        "quorum": False,
        "text": "",
        "text_source": "",
        "columns": [{"name": name, "type": kind} for name, kind in columns],
        "rows": rows,
        "truncated": False,
        "cut": [],
    }
    answer = read_response({**body, **changes})
    assert isinstance(answer, AnsweredResponse)
    return answer


@pytest.mark.parametrize(
    ("kind", "values", "arrow", "python"),
    [
        ("int8", [1, "9007199254740993"], pa.int64(), [1, 9007199254740993]),
        ("numeric(12,2)", [1.5, "0.10"], None, [Decimal("1.5"), Decimal("0.10")]),
        ("float8", [1.5, "NaN", None], pa.float64(), None),
        ("date", ["2026-01-31"], pa.date32(), [dt.date(2026, 1, 31)]),
        ("date", ["infinity"], pa.string(), ["infinity"]),
        ("timestamp", ["2026-01-31T10:00:00"], pa.timestamp("us"), None),
        ("bool", [True, None], pa.bool_(), [True, None]),
        ("int4[]", [[1, 2]], pa.list_(pa.int64()), [[1, 2]]),
        ("uuid", ["0c"], pa.string(), ["0c"]),
        ("", [1, "one"], pa.string(), ["1", "one"]),
    ],
)
def test_a_column_has_the_type_of_the_database(
    kind: str, values: list[Any], arrow: pa.DataType | None, python: list[Any] | None
) -> None:
    table = build_answer(("x", kind), rows=[[value] for value in values]).to_arrow()
    if arrow is not None:
        assert table.schema.field("x").type == arrow
    if python is not None:
        assert table["x"].to_pylist() == python


def test_a_data_frame_has_the_columns_by_name() -> None:
    answer = build_answer(
        ("day", "date"), ("n", "int8"), ("n", "int8"), rows=[["2026-01-31", 1, 2]]
    )
    frame = answer.to_pandas()
    assert list(frame.columns) == ["day", "n", "n_2"]
    assert frame["day"][0] == dt.date(2026, 1, 31)
    assert int(frame["n"].sum()) == 1


def test_nothing_is_a_table_too() -> None:
    answer = build_answer(("n", "int8"), rows=[])
    assert answer.to_arrow().num_rows == 0
    assert list(answer.to_pandas().columns) == ["n"]
    assert (list(answer), len(answer), bool(answer)) == ([], 0, True)


def test_html_shows_the_first_rows_and_escapes_all() -> None:
    rows: list[list[Any]] = [["<script>"], [None], *[[number] for number in range(60)]]
    shown = build_answer(("<i>", "text"), rows=rows, text="a < b", truncated=True)._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "SELECT &lt;b&gt;" in shown
    assert "a &lt; b" in shown
    assert "12 more rows" in shown
    assert "The database has more rows" in shown
