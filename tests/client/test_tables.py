"""Rows as a data frame: the types of the database, and no value changed to fit."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

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
    ("kind", "values", "expected"),
    [
        ("int8", [1, "9007199254740993"], [1, 9007199254740993]),
        ("numeric(12,2)", [1.5, "0.10"], [Decimal("1.5"), Decimal("0.10")]),
        ("float8", [1.5, "2e3"], [1.5, 2000.0]),
        ("date", ["2026-01-31"], [dt.date(2026, 1, 31)]),
        ("date", ["infinity"], ["infinity"]),
        ("timestamp", ["2026-01-31T10:00:00"], [dt.datetime(2026, 1, 31, 10)]),
        ("int4[]", [[1, 2]], [[1, 2]]),
        ("", [1, "one"], [1, "one"]),
    ],
)
def test_a_column_has_the_type_of_the_database(
    kind: str, values: list[Any], expected: list[Any]
) -> None:
    frame = build_answer(("x", kind), rows=[[value] for value in values]).to_pandas()
    assert frame["x"].tolist() == expected


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
    assert list(answer.to_pandas().columns) == ["n"]
    assert (list(answer), len(answer), bool(answer)) == ([], 0, True)
