"""What comes of a question: the four kinds of answer, each with the trace of all that led to it."""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql.types import (
    ModuleRoute,
    Plan,
    Prompt,
    Question,
    Ranking,
    Repair,
    ResultSet,
    SchemaContext,
)


@dataclass(frozen=True, slots=True)
class StageTiming:
    """Wall time of one stage in milliseconds, and the tokens it cost."""

    stage: str
    ms: float
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that happened: what the page, the logs, the metrics and the evaluation read.

    ``sketch`` is the first draft of the query, ``left_out`` what did not fit into the prompt.
    """

    question: Question
    route: ModuleRoute | None = None
    context: SchemaContext | None = None
    plan: Plan | None = None
    sketch: str = ""
    prompt: Prompt | None = None
    left_out: tuple[str, ...] = ()
    ranking: Ranking | None = None
    repairs: tuple[Repair, ...] = ()
    timings: tuple[StageTiming, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """The query that won, and its rows."""

    sql: str
    result: ResultSet
    confidence: float
    quorum: bool
    trace: Trace


@dataclass(frozen=True, slots=True)
class Refused:
    """The question is not answered on purpose; ``code`` is stable, ``reason`` is for people."""

    code: str
    reason: str
    trace: Trace


@dataclass(frozen=True, slots=True)
class Clarify:
    """Two readings divided the vote; ``readings`` are their queries, best first.

    ``confidence`` is what the first would have been answered with.
    """

    reason: str
    confidence: float
    readings: tuple[str, ...]
    trace: Trace


@dataclass(frozen=True, slots=True)
class Failed:
    """No candidate gave a result. Every attempt is in the trace."""

    reason: str
    trace: Trace


Answer = Answered | Refused | Clarify | Failed
