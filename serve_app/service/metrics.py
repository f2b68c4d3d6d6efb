"""The metrics of the service, and how a finished question changes them.

Knows no metrics library: a ``Meter`` receives the values. ``serve_app.ray.metrics`` has the one of
Ray Serve; without Ray nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from nl2sql.answers import Answer, Answered, Clarify, Trace
from nl2sql.types import Assessment, Violation

_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)
_TENTHS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric; ``boundaries`` are the upper bounds of a histogram's buckets."""

    name: str
    kind: Literal["counter", "histogram", "gauge"]
    description: str
    tags: tuple[str, ...] = ()
    boundaries: tuple[float, ...] = ()


QUESTIONS = Metric(
    "quorumsql_questions", "counter", "Questions by outcome.", ("outcome", "database")
)
QUESTION_SECONDS = Metric(
    "quorumsql_question_seconds",
    "histogram",
    "Seconds from the request to the answer, waiting included.",
    ("outcome", "database"),
    _SECONDS,
)
STAGE_SECONDS = Metric(
    "quorumsql_stage_seconds", "histogram", "Seconds of a stage.", ("stage",), _SECONDS
)
TOKENS = Metric("quorumsql_tokens", "counter", "Tokens: of prompts, of completions.", ("kind",))
CANDIDATES = Metric(
    "quorumsql_candidates", "counter", "Candidates: accepted, refused or failed.", ("status",)
)
GUARD_REFUSALS = Metric(
    "quorumsql_guard_refusals", "counter", "Candidates that the guard refused, by code.", ("code",)
)
REPAIRS = Metric(
    "quorumsql_repairs",
    "counter",
    "Repairs by method, rule and outcome (fixed, failed, none); a repair by several rules counts "
    "for all of them.",
    ("method", "rule", "outcome"),
)
CONFIDENCE = Metric(
    "quorumsql_confidence",
    "histogram",
    "Confidence of the best candidate, where one has a result.",
    ("outcome",),
    _TENTHS,
)
QUEUE = Metric("quorumsql_queue", "gauge", "Requests that wait for their turn.")
ONGOING = Metric("quorumsql_ongoing", "gauge", "Requests that are being answered.")

# The metrics of the service.
METRICS = (
    QUESTIONS,
    QUESTION_SECONDS,
    STAGE_SECONDS,
    TOKENS,
    CANDIDATES,
    GUARD_REFUSALS,
    REPAIRS,
    CONFIDENCE,
    QUEUE,
    ONGOING,
)


class Meter(Protocol):
    """Receives the values of metrics."""

    def record(self, metric: Metric, value: float, tags: tuple[str, ...] = ()) -> None:
        """Adds to a counter, observes in a histogram, sets a gauge; ``tags`` as the metric's."""


Increment = tuple[Metric, float, tuple[str, ...]]
"""One change of a metric: as ``Meter.record`` takes it."""


def measure_question(
    outcome: str, database: str, seconds: float, answer: Answer | None
) -> Iterator[Increment]:
    """The changes by a question; without ``answer`` it ended with an error."""
    yield QUESTIONS, 1, (outcome, database)
    yield QUESTION_SECONDS, seconds, (outcome, database)
    if answer is not None:
        yield from _measure_stages(answer.trace)
        yield from _measure_candidates(answer.trace)
    if isinstance(answer, Answered | Clarify):
        yield CONFIDENCE, answer.confidence, (outcome,)


def _measure_stages(trace: Trace) -> Iterator[Increment]:
    for timing in trace.timings:
        yield STAGE_SECONDS, timing.ms / 1000, (timing.stage,)
    for kind, tokens in (
        ("prompt", sum(timing.prompt_tokens for timing in trace.timings)),
        ("completion", sum(timing.completion_tokens for timing in trace.timings)),
    ):
        if tokens:
            yield TOKENS, tokens, (kind,)


def _measure_candidates(trace: Trace) -> Iterator[Increment]:
    for assessment in trace.ranking.assessments if trace.ranking else ():
        yield CANDIDATES, 1, (_name_status(assessment),)
        if isinstance(assessment.verdict, Violation):
            yield GUARD_REFUSALS, 1, (assessment.verdict.code,)
    for repair in trace.repairs:
        for rule in repair.rules or ("",):
            yield REPAIRS, 1, (repair.method, rule, repair.outcome)


def _name_status(assessment: Assessment) -> str:
    if isinstance(assessment.verdict, Violation):
        return "refused"
    return "failed" if assessment.failed else "accepted"
