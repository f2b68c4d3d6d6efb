"""The row of each kind of answer, and rows in each format."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from nl2sql.errors import DeadlineExceeded
from quorumsql.contract import AnsweredResponse, ClarifyResponse, FailedResponse, RefusedResponse
from quorumsql.contract.answers import AttemptResponse, ResultColumn
from serve_app.batch.questions import BatchQuestion
from serve_app.batch.results import (
    SCHEMA,
    ResultFormat,
    Row,
    build_error_row,
    build_row,
    fingerprint,
    read_table,
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
    return build_row(
        QUESTION,
        "mia",
        response,
        seconds=0.5,
        kept_rows=kept_rows,
    )


def test_an_answer() -> None:
    row = make_row(ANSWERED)
    assert row == {
        "id": "a",
        "question": "How many?",
        "database": "shop",
        "principal": "mia",
        "outcome": "answered",
        "sql": "SELECT 1",
        "columns": ["n"],
        "rows": "[[3],[1]]",
        "row_count": 3,
        "truncated": True,
        "rows_sha256": fingerprint([[1], [2], [3]]),
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
                attempts=[
                    AttemptResponse(
                        sql="S", origin="sample", error="E", error_class="name", suggestion=""
                    )
                ],
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
    known = build_error_row(QUESTION, "mia", DeadlineExceeded("Too slow."), seconds=1)
    assert (known["outcome"], known["error_class"]) == ("error", "DeadlineExceeded")
    assert known["reason"] == "Too slow."
    unexpected = build_error_row(QUESTION, "mia", KeyError("a secret cell"), seconds=1)
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


@pytest.mark.parametrize("format_", list(ResultFormat))
def test_rows_survive_each_format(format_: ResultFormat) -> None:
    content = io.BytesIO(render_rows(ROWS, format_))
    read = read_table(content, format_, ["id", "question", "outcome", "confidence", "reason"])
    assert read == [
        {
            "id": "a",
            "question": "Größe ??",
            "outcome": "answered",
            "confidence": 0.5,
            "reason": None,
        },
        {"id": "b", "question": None, "outcome": "error", "confidence": None, "reason": "R"},
    ]


def test_json_lines_hold_rows_and_times_as_json() -> None:
    first, second = map(json.loads, render_rows(ROWS, ResultFormat.JSONL).splitlines())
    assert list(first) == SCHEMA.names
    assert first["rows"] == [[1, "ä"]]
    assert first["stages_ms"] == {"plan": 1.5}
    assert second["rows"] is None
