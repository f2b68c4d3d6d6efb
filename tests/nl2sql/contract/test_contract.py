"""What a client reads is what the service wrote, whatever the texts are."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from nl2sql.answers import (
    Answer,
    Answered,
    Clarify,
    Failed,
    FailedAttempt,
    Refused,
    Trace,
)
from nl2sql.types import Interpretation, Ranking
from quorumsql.contract import AnsweredResponse, QueryRequest, read_response
from serve_app.service.rendering import build_response
from tests.fakes import build_assessment, build_context, build_question, build_result

HALF = "half a character \ud800"
TRACE = Trace(
    build_question(text=HALF),
    context=build_context(),
    ranking=Ranking((build_assessment("c1", result=build_result((1,))),), samples=1),
)
ANSWERS: tuple[Answer, ...] = (
    Answered("SELECT 1", build_result((None, HALF, {"a": None})), 0.5, True, TRACE),
    Refused("off_topic", HALF, TRACE, ("How many orders?",)),
    Clarify("Which?", 0.3, (Interpretation("SELECT 1", HALF, 0.5),), TRACE),
    Failed("None ran.", TRACE, (FailedAttempt("SELECT x", "sample", HALF),)),
)


@pytest.mark.parametrize("trace", [False, True], ids=["without a trace", "with its trace"])
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_an_answer_is_read_as_it_was_written(answer: Answer, trace: bool) -> None:
    response = build_response(answer, trace=trace)
    assert response.outcome == type(answer).__name__.lower()
    assert read_response(json.loads(json.dumps(response.model_dump()))) == response
    assert (response.trace is not None) == trace


def test_an_empty_value_of_a_cell_is_kept() -> None:
    response = build_response(ANSWERS[0], trace=False)
    assert isinstance(response, AnsweredResponse)
    assert response.model_dump()["rows"] == [[None, HALF, {"a": None}]]


@pytest.mark.parametrize("body", [{}, [], {"outcome": "sung"}, {"outcome": "answered"}])
def test_anything_else_is_no_answer(body: object) -> None:
    with pytest.raises(ValidationError):
        read_response(body)


def test_a_request_with_an_unknown_key_is_refused() -> None:
    with pytest.raises(ValidationError, match="extra"):
        QueryRequest.model_validate({"question": "How many?", "kk": 3})
