"""The four kinds of answer to a question, each with the trace of everything that led to it."""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql.types import (
    Assessment,
    Intent,
    Interpretation,
    ModuleRoute,
    Plan,
    Progress,
    Prompt,
    Question,
    Ranking,
    Repair,
    ResultSet,
    Rewriting,
    SchemaContext,
    VerifiedQuery,
)
from nl2sql.types.question import AS_ASKED, PASSED


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """One query that did not work. ``error_class`` is empty where the error was not classified."""

    sql: str
    origin: str
    cause: str
    error_class: str = ""


@dataclass(frozen=True, slots=True)
class StageTiming:
    """Wall time of one stage in milliseconds, and the tokens it cost."""

    stage: str
    ms: float
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that happened, for the page, the logs, the metrics and the evaluation.

    ``draft_query`` is the first draft of the query; ``left_out`` lists tables and columns that did
    not fit into the prompt. ``prompts`` pairs each sampled variant with its prompt. ``question`` is
    the one that was answered; ``asked`` is the original text if it was rewritten. ``notes`` report
    what was unavailable. ``wanted`` counts the completions requested; ``ended_early`` is true if
    the deadline or a failure of the engine ended sampling. ``shows_policy`` if the principal may
    read the policy: then the queries are shown as they ran.
    """

    question: Question
    route: ModuleRoute | None = None
    context: SchemaContext | None = None
    plan: Plan | None = None
    draft_query: str = ""
    prompts: tuple[tuple[str, Prompt], ...] = ()
    left_out: tuple[str, ...] = ()
    ranking: Ranking | None = None
    repairs: tuple[Repair, ...] = ()
    timings: tuple[StageTiming, ...] = ()
    intent: Intent = PASSED
    rewriting: Rewriting = AS_ASKED
    asked: str = ""
    notes: tuple[str, ...] = ()
    wanted: int = 0
    ended_early: bool = False
    shows_policy: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """The winning query and its rows; ``text`` and ``text_source`` are those of ``AnswerText``.

    ``description`` says in words what the query asks for. ``verified`` is who gave the query as the
    right one for this question, if somebody did; then nothing was sampled.
    """

    sql: str
    result: ResultSet
    confidence: float
    quorum: bool
    trace: Trace
    text: str = ""
    text_source: str = ""
    description: str = ""
    verified: VerifiedQuery | None = None

    @property
    def origin(self) -> str:
        """The origin of the winning candidate; empty if the trace does not tell."""
        winner = self.trace.ranking.winner if self.trace.ranking else None
        return winner.candidate.origin if winner else ""


@dataclass(frozen=True, slots=True)
class Refused:
    """The question is deliberately not answered; ``code`` is stable, ``reason`` is for people.

    ``suggestions`` are questions that can be asked instead.
    """

    code: str
    reason: str
    trace: Trace
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clarify:
    """The confidence is too low to answer; one or two interpretations are offered, best first.

    ``confidence`` is that of the first.
    """

    reason: str
    confidence: float
    interpretations: tuple[Interpretation, ...]
    trace: Trace


@dataclass(frozen=True, slots=True)
class Failed:
    """No candidate gave a result; ``attempts`` lists the queries that failed."""

    reason: str
    trace: Trace
    attempts: tuple[FailedAttempt, ...] = ()


Answer = Answered | Refused | Clarify | Failed

QuestionEvent = Progress | Assessment | Ranking | Answered
"""What an observer of a question hears: a candidate that was assessed, a vote, the rows."""
