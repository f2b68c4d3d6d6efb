"""What is recorded of a question: metrics, log, span."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from nl2sql.answers import Answered
from nl2sql.errors import (
    DeadlineExceeded,
    InvalidRequest,
    LimitReached,
    PromptTooLong,
    Unavailable,
    UnknownDatabase,
)
from nl2sql.types import Principal
from quorumsql.contract import QueryRequest
from serve_app.service.query_service import QueryService
from serve_app.service.question_log import LOGGER, JsonLines
from serve_app.service.recorder import QuestionRecorder
from tests.fakes import (
    FakeGenerator,
    build_candidate,
    build_generated,
    build_result,
    build_settings,
)
from tests.nl2sql.test_progress import SpanNotes
from tests.serve_app.served import build_services
from tests.serve_app.service.test_metrics import FakeMeter

SECRET = "a cell's value"
ASKED = QueryRequest(question="Who earns most?")
TESTER = Principal("tester")


class FakeTracer(SpanNotes):
    """Notes spans and attributes; its trace id never changes."""

    def __init__(self) -> None:
        super().__init__()
        self.attributes: dict[str, str | float] = {}

    def trace_id(self) -> str:
        """See ``ServiceTracer.trace_id``."""
        return "f" * 32

    def annotate(self, attributes: dict[str, str | float]) -> None:
        """See ``ServiceTracer.annotate``."""
        self.attributes.update(attributes)


@contextmanager
def reading_log() -> Iterator[list[dict[str, Any]]]:
    """The lines that are written in this context, as JSON."""
    lines: list[dict[str, Any]] = []

    class Collecting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(json.loads(self.format(record)))

    handler, level = Collecting(), LOGGER.level
    handler.setFormatter(JsonLines())
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    yield lines
    LOGGER.removeHandler(handler)
    LOGGER.setLevel(level)


def build_service(
    meter: FakeMeter, tracer: FakeTracer | None = None, **observability: Any
) -> QueryService:
    """A service whose only candidate returns ``SECRET``."""
    settings = build_settings(observability=observability)
    return build_services(
        settings,
        generator=FakeGenerator(build_generated(build_candidate("SELECT name"))),
        results={"SELECT name": [build_result((SECRET,))]},
        recorder=QuestionRecorder(settings, meter, tracer),
    ).queries


async def test_an_answered_question_is_recorded() -> None:
    meter, tracer = FakeMeter(), FakeTracer()
    service = build_service(meter, tracer)
    with reading_log() as lines:
        answer = await service.query(ASKED, TESTER)
    assert isinstance(answer, Answered)
    assert meter.values["questions", "answered", "shop"] == 1
    assert meter.values["candidates", "accepted"] == 1
    assert (meter.values["queue",], meter.values["ongoing",]) == (0, 0)
    (line,) = lines
    known = {name: line[name] for name in ("message", "outcome", "database", "principal")}
    assert known == {
        "message": "question", "outcome": "answered", "database": "shop", "principal": "tester",
    }  # fmt: skip
    assert (line["trace_id"], line["confidence"]) == ("f" * 32, answer.confidence)
    assert tracer.attributes["quorumsql.outcome"] == "answered"
    assert (tracer.noted[0], tracer.noted[-1]) == ("question begins", "question ends")
    assert {"retrieve begins", "generate begins", "guard begins"} <= {*tracer.noted}


@pytest.mark.parametrize("logs_questions", [False, True])
async def test_the_log_holds_questions_only_on_request_and_never_rows(logs_questions: bool) -> None:
    service = build_service(FakeMeter(), log_questions=logs_questions)
    with reading_log() as lines:
        await service.query(ASKED, TESTER)
    assert lines[0].get("question") == (ASKED.question if logs_questions else None)
    assert SECRET not in json.dumps(lines)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (InvalidRequest("k", field="k"), "invalid"),
        (UnknownDatabase("x", ()), "invalid"),
        (LimitReached("slow down", retry_after_s=1.0), "limited"),
        (Unavailable("gone"), "unavailable"),
        (DeadlineExceeded("late"), "timeout"),
        (asyncio.CancelledError(), "cancelled"),
        (PromptTooLong("long"), "error"),
        (KeyError("bug"), "error"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_an_error_is_an_outcome(error: BaseException, outcome: str) -> None:
    meter = FakeMeter()
    recorder = QuestionRecorder(build_settings(), meter)
    with (
        reading_log() as lines,
        pytest.raises(type(error)),
        recorder.record(QueryRequest(question="q", database="nowhere"), TESTER),
    ):
        raise error
    # The name of an unknown database is no tag.
    assert meter.values["questions", outcome, ""] == 1
    assert (lines[0]["outcome"], lines[0]["code"]) == (outcome, type(error).__name__)
