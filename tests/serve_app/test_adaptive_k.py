"""How many samples: what a request may ask for, and what the trace tells."""

from __future__ import annotations

import pytest

from nl2sql.answers import Trace
from nl2sql.errors import InvalidRequest
from nl2sql.rendering import build_trace
from nl2sql.types import Message, Principal, Prompt, Ranking
from quorumsql.contract import QueryRequest
from serve_app.service.query_service import build_question
from tests.fakes import build_question as build_fake_question
from tests.fakes import build_settings

ANN = Principal("ann")


def choose_k(asked: int | None, **sampling: int) -> int:
    settings = build_settings(sampling=sampling)
    return build_question(QueryRequest(question="q", k=asked), settings, ANN).k


def test_a_request_may_leave_the_number_to_the_service_or_to_the_question() -> None:
    assert choose_k(None, k=4) == 4
    assert choose_k(None, k=0) == 0
    assert choose_k(0, k=4) == 0
    assert choose_k(7, k=0) == 7
    assert choose_k(None, k=16, max_k=8) == 8


@pytest.mark.parametrize("asked", [-1, 33])
def test_a_wrong_number_is_told_what_is_right(asked: int) -> None:
    with pytest.raises(InvalidRequest, match="from 1 to 32, or 0 for as many as the question") as e:
        choose_k(asked)
    assert e.value.field == "k"


def test_the_trace_tells_what_was_asked_what_was_drawn_and_every_prompt() -> None:
    prompts = tuple((name, Prompt("generate", (Message("user", name),))) for name in ("a", "b"))
    trace = build_trace(
        Trace(
            build_fake_question(k=0),
            prompt=prompts[0][1],
            prompts=prompts,
            ranking=Ranking(samples=6),
        )
    ).model_dump()
    assert (trace["k"], trace["samples"]) == (0, 6)
    assert trace["prompt"] == [{"role": "user", "content": "a"}]
    assert trace["prompts"]["b"] == [{"role": "user", "content": "b"}]


def test_a_question_that_was_refused_drew_nothing() -> None:
    trace = build_trace(Trace(build_fake_question(k=0))).model_dump()
    assert (trace["samples"], trace["prompt"], trace["prompts"]) == (0, [], {})
