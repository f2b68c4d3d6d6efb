"""What is recorded of a question: metrics, log, span."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracer, StatusCode, Tracer

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
from tests.serve_app.served import build_services
from tests.serve_app.service.test_metrics import FakeMeter

SECRET = "a cell's value"
ASKED = QueryRequest(question="Who earns most?")
TESTER = Principal("tester")


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


def build_tracer() -> tuple[Tracer, InMemorySpanExporter]:
    """A tracer, and the spans that have ended."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("test"), exporter


def build_service(
    meter: FakeMeter, tracer: Tracer | None = None, **observability: Any
) -> QueryService:
    """A service whose only candidate returns ``SECRET``."""
    settings = build_settings(observability=observability)
    return build_services(
        settings,
        generator=FakeGenerator(build_generated(build_candidate("SELECT name"))),
        results={"SELECT name": [build_result((SECRET,))]},
        recorder=QuestionRecorder(settings, meter, tracer or NoOpTracer()),
    ).queries


async def test_an_answered_question_is_recorded() -> None:
    meter, (tracer, exporter) = FakeMeter(), build_tracer()
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
    *inner, last = exporter.get_finished_spans()
    assert (last.name, (last.attributes or {})["quorumsql.outcome"]) == ("question", "answered")
    assert {"retrieve", "generate", "guard"} <= {span.name for span in inner}
    assert {span.context.trace_id for span in (*inner, last)} == {int(line["trace_id"], 16)}
    assert line["confidence"] == answer.confidence


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
    meter, (tracer, exporter) = FakeMeter(), build_tracer()
    recorder = QuestionRecorder(build_settings(), meter, tracer)
    with (
        reading_log() as lines,
        pytest.raises(type(error)),
        recorder.record(QueryRequest(question="q", database="nowhere"), TESTER),
    ):
        raise error
    # The name of an unknown database is no tag.
    assert meter.values["questions", outcome, ""] == 1
    name = type(error).__name__
    assert (lines[0]["outcome"], lines[0]["code"]) == (outcome, name)
    # A message may quote rows.
    (span,) = exporter.get_finished_spans()
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, name)
    assert span.events == ()
