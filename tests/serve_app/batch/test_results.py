"""The row of each kind of answer, and rows as a file."""

from __future__ import annotations

import io
from typing import Any

import pytest
from pyarrow import parquet

from nl2sql.errors import DeadlineExceeded
from quorumsql.contract import AnsweredResponse, ClarifyResponse, FailedResponse, RefusedResponse
from quorumsql.contract.answers import AttemptResponse, ResultColumn
from serve_app.batch.questions import BatchQuestion
from serve_app.batch.results import (
    Row,
    build_error_row,
    build_row,
    render_rows,
)

QUESTION = BatchQuestion("a", "How many?", "shop")
COMMON: dict[str, Any] = {"question": "How many?", "database": "shop"}
ANSWERED = AnsweredResponse(
    **COMMON,
    sql="SELECT 1",
    confidence=0.75,
    quorum=True,
    text="",
    text_source="",
    columns=[ResultColumn(name="n", type="int8")],
    rows=[[3], [1], [2]],
    truncated=True,
    cut=[],
)


def make_row(response: Any, kept_rows: int = 2) -> Row:
    return build_row(QUESTION, response, seconds=0.5, kept_rows=kept_rows)


def test_an_answer() -> None:
    row = make_row(ANSWERED)
    assert row == {
        "id": "a",
        "question": "How many?",
        "database": "shop",
        "outcome": "answered",
        "sql": "SELECT 1",
        "columns": ["n"],
        "rows": "[[3],[1]]",
        "row_count": 3,
        "truncated": True,
        "confidence": 0.75,
        "quorum": True,
        "seconds": 0.5,
    }
    assert make_row(ANSWERED, kept_rows=0)["rows"] is None


@pytest.mark.parametrize(
    ("response", "error_class"),
    [
        (RefusedResponse(**COMMON, code="off_topic", reason="R"), "off_topic"),
        (
            FailedResponse(
                **COMMON,
                reason="R",
                attempts=[AttemptResponse(sql="S", origin="sample", error="E", error_class="name")],
            ),
            "name",
        ),
        (FailedResponse(**COMMON, reason="R"), None),
        (ClarifyResponse(**COMMON, reason="R", confidence=0.3, interpretations=[]), None),
    ],
)
def test_what_is_no_answer_has_its_reason(response: Any, error_class: str | None) -> None:
    row = make_row(response)
    assert row["outcome"] == response.outcome
    assert row["reason"] == "R"
    assert row.get("error_class") == error_class
    assert "sql" not in row


def test_errors_name_their_class_but_unexpected_ones_do_not_quote() -> None:
    known = build_error_row(QUESTION, DeadlineExceeded("Too slow."), seconds=1)
    assert (known["outcome"], known["error_class"]) == ("error", "DeadlineExceeded")
    assert known["reason"] == "Too slow."
    unexpected = build_error_row(QUESTION, KeyError("a secret cell"), seconds=1)
    assert unexpected["error_class"] == "KeyError"
    assert "secret" not in unexpected["reason"]


ROWS: list[Row] = [
    {
        "id": "a",
        "question": "Größe \ud800?",
        "outcome": "answered",
        "columns": ["n"],
        "rows": '[[1,"ä"]]',
        "stages_ms": [("plan", 1.5)],
        "confidence": 0.5,
    },
    {"id": "b", "outcome": "error", "reason": "R"},
]


def test_rows_are_a_parquet_file() -> None:
    names = ["id", "question", "outcome", "confidence", "reason"]
    table = parquet.read_table(io.BytesIO(render_rows(ROWS)), columns=names)
    assert table.to_pylist() == [
        {
            "id": "a",
            "question": "Größe ??",
            "outcome": "answered",
            "confidence": 0.5,
            "reason": None,
        },
        {"id": "b", "question": None, "outcome": "error", "confidence": None, "reason": "R"},
    ]
