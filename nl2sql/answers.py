"""What comes of a question: the four kinds of answer, each with the trace of all that led to it."""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql.speed import UNKNOWN_PACE, Pace
from nl2sql.types import (
    Intent,
    Interpretation,
    ModuleRoute,
    Plan,
    Prompt,
    Question,
    Ranking,
    Repair,
    ResultSet,
    Rewriting,
    SchemaContext,
)
from nl2sql.types.conversation import AS_ASKED, PASSED


@dataclass(frozen=True, slots=True)
class Attempt:
    """One query that did not work. ``error_class`` is the taxonomy's, empty where none was told."""

    sql: str
    origin: str
    cause: str
    error_class: str = ""
    suggestion: str = ""


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

    ``draft_query`` is the first draft of the query, ``left_out`` what did not fit into the prompt.
    ``prompts`` pairs each variant that was sampled with its prompt; ``prompt`` is the first.
    ``question`` is the one that was answered, ``asked`` the asker's words where it was rewritten;
    ``notes`` say what was done without, and why. ``wanted`` counts the completions that were to
    be drawn; the deadline ended sampling where ``ended_early`` says so. ``pace`` says how fast the
    model is and when the deadline was.
    """

    question: Question
    route: ModuleRoute | None = None
    context: SchemaContext | None = None
    plan: Plan | None = None
    draft_query: str = ""
    prompt: Prompt | None = None
    prompts: tuple[tuple[str, Prompt], ...] = ()
    left_out: tuple[str, ...] = ()
    ranking: Ranking | None = None
    repairs: tuple[Repair, ...] = ()
    timings: tuple[StageTiming, ...] = ()
    intent: Intent = PASSED
    rewriting: Rewriting = AS_ASKED
    asked: str = ""
    notes: tuple[str, ...] = ()
    pace: Pace = UNKNOWN_PACE
    wanted: int = 0
    ended_early: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """The query that won, and its rows; what they say in words, and by whom (``AnswerText``)."""

    sql: str
    result: ResultSet
    confidence: float
    quorum: bool
    trace: Trace
    text: str = ""
    text_source: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """The question is not answered on purpose; ``code`` is stable, ``reason`` is for people.

    ``suggestions`` are questions that can be asked instead.
    """

    code: str
    reason: str
    trace: Trace
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clarify:
    """Two interpretations divided the vote, best first; there may be one alone that is too unsure.

    ``confidence`` is what the first would have been answered with.
    """

    reason: str
    confidence: float
    interpretations: tuple[Interpretation, ...]
    trace: Trace


@dataclass(frozen=True, slots=True)
class Failed:
    """No candidate gave a result; ``attempts`` are all queries that were tried."""

    reason: str
    trace: Trace
    attempts: tuple[Attempt, ...] = ()


Answer = Answered | Refused | Clarify | Failed
