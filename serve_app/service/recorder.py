"""Records each question: metrics, a span of the trace, a line of the log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from opentelemetry import trace
from opentelemetry.trace import NoOpTracer, Status, StatusCode, Tracer

from nl2sql.answers import Answer, Answered, Clarify
from nl2sql.errors import UnknownDatabase
from nl2sql.progress import traced_by
from nl2sql.types import Principal
from quorumsql.contract import QueryRequest
from serve_app.service.account import name_outcome
from serve_app.service.metrics import ONGOING, QUEUE, Meter, measure_question
from serve_app.service.question_log import TRACE_ID, find_trace_id, log_question, make_trace_id
from serve_app.settings import Settings


class Finish:
    """Receives the answer of a question that is being recorded."""

    answer: Answer | None = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class QuestionRecorder:
    """Records questions; without a meter and a tracer only in the log."""

    settings: Settings
    meter: Meter | None = None
    tracer: Tracer = field(default_factory=NoOpTracer)

    def set_load(self, waiting: int, ongoing: int) -> None:
        """Requests that wait, and that are being answered."""
        if self.meter:
            self.meter.record(QUEUE, waiting)
            self.meter.record(ONGOING, ongoing)

    @contextmanager
    def record(self, request: QueryRequest, principal: Principal) -> Iterator[Finish]:
        """Records the question whose answer is set in this context, or that raises an error."""
        finish = Finish()
        start = time.perf_counter()
        with traced_by(self.open_span), self.open_span("question"):
            try:
                yield finish
            except BaseException as error:
                finish.error = error
                raise
            finally:
                self._finish(finish, request, principal, time.perf_counter() - start)

    @contextmanager
    def open_span(self, name: str) -> Iterator[None]:
        """A span of the current trace; it has the class name of an error, never its message."""
        with self.tracer.start_as_current_span(
            name, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    def _finish(
        self, finish: Finish, request: QueryRequest, principal: Principal, seconds: float
    ) -> None:
        answer = finish.answer
        outcome, code = name_outcome(answer or finish.error)
        database = self._name_database(request)
        ms = round(seconds * 1000, 1)
        if self.meter:
            for change in measure_question(outcome, database, seconds, answer):
                self.meter.record(*change)
        confidence = answer.confidence if isinstance(answer, Answered | Clarify) else None
        fields = {"outcome": outcome, "code": code, "database": database, "confidence": confidence}
        known = {name: value for name, value in fields.items() if value not in (None, "")}
        attributes = {f"quorumsql.{name}": value for name, value in known.items()}
        trace.get_current_span().set_attributes(attributes)
        log_question(
            {
                "trace_id": find_trace_id() or TRACE_ID.get() or make_trace_id(),
                "principal": principal.name,
                **known,
                "ms": ms,
                "question": request.question if self.settings.observability.log_questions else None,
            }
        )

    def _name_database(self, request: QueryRequest) -> str:
        """Empty for an unknown database, whose name would be a new tag of the metrics."""
        try:
            return self.settings.database_name(request.database)
        except UnknownDatabase:
            return ""
