"""What the stages ask of one another. A stage folder imports these, never another stage.

All calls are coroutines, so that a stage may live in this process or behind a deployment handle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from nl2sql.answers import Answer
from nl2sql.catalog import Catalog
from nl2sql.deadline import NEVER, Deadline
from nl2sql.speed import EngineSpeed, Pace
from nl2sql.types import (
    AnswerText,
    Assessment,
    Candidate,
    Completions,
    Diagnostic,
    DraftQuery,
    ExecutionLimits,
    Explained,
    Feedback,
    FeedbackReceipt,
    Generated,
    GuardedQuery,
    Intent,
    ModuleRoute,
    Plan,
    Principal,
    Question,
    QuestionEvent,
    Ranking,
    Repair,
    ResultSet,
    Rewriting,
    SamplingRequest,
    SchemaContext,
    Turn,
    Violation,
)


class Retriever(Protocol):
    """Stages 1 and 2: which modules and tables a question is about."""

    async def retrieve(
        self, question: Question, *, draft: str = ""
    ) -> tuple[ModuleRoute, SchemaContext]:
        """``draft`` is a first draft of the query, whose names count as if they were asked for.

        Raise IndexUnavailable when the index does not answer or does not exist."""
        ...

    async def list_beginnings(
        self, database: str, principal: Principal
    ) -> tuple[SchemaContext, ...]:
        """What the prompts of a principal begin with: a context for each module shown whole.

        Raise as ``retrieve`` does."""
        ...


class CatalogSource(Protocol):
    """Gives the indexed catalog of a database."""

    async def catalog(self, database: str) -> Catalog:
        """Raise IndexUnavailable when the database was never indexed."""
        ...


class Visibility(Protocol):
    """Tells what of a database a principal may see."""

    async def visible_catalog(self, database: str, principal: Principal) -> Catalog | Violation:
        """The part of the catalog that may be seen, or why there is none.

        Raise IndexUnavailable when the database was never indexed, PolicyError when its policy does
        not fit.
        """
        ...

    async def open_columns(self, database: str, principal: Principal) -> frozenset[str] | None:
        """``schema.table.column`` of every column whose every stored value the principal may see.

        None means all columns of the database. A value of any other column may be told only if a
        guarded query gave it. Raises as ``visible_catalog`` does.
        """
        ...

    async def describe_rows(
        self, database: str, principal: Principal, tables: Iterable[str]
    ) -> tuple[tuple[str, str], ...]:
        """(``schema.table``, condition) for those of the tables whose rows the policy limits.

        The condition is SQL that the principal may read; empty where it may not be told. Raises as
        ``visible_catalog`` does.
        """
        ...


class Planner(Protocol):
    """Stage 3: schema links and joins."""

    async def plan(self, question: Question, context: SchemaContext) -> Plan: ...


class Engine(Protocol):
    """A language model: one request, K completions."""

    async def sample(self, request: SamplingRequest) -> Completions:
        """Raise PromptTooLong, or EngineUnavailable when the model cannot answer."""
        ...

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """How many tokens each text is, by the model's own tokenizer. Raise EngineUnavailable."""
        ...

    async def speed(self) -> EngineSpeed | None:
        """What was measured when the engine started; None where it is another's server.

        Raise EngineUnavailable."""
        ...


class Generator(Protocol):
    """Stages 0 and 4: is the question about this database, and which queries answer it."""

    async def gate(self, question: Question, context: SchemaContext) -> Intent:
        """Whether to go on; never raises for want of a model."""
        ...

    async def pace(self) -> Pace:
        """How fast the model is, and when sampling ends; never raises for want of a model."""
        ...

    async def rewrite(self, question: Question, turns: tuple[Turn, ...]) -> Rewriting:
        """A follow-up as a whole question; never raises for want of a model."""
        ...

    async def write_answer(self, question: Question, sql: str, result: ResultSet) -> AnswerText:
        """What the rows say, in words; never raises for want of a model."""
        ...

    async def write_draft(self, question: Question, context: SchemaContext) -> DraftQuery:
        """A first draft of the query, from a wide view of the schema.

        Raise PromptTooLong, or EngineUnavailable when the model cannot answer."""
        ...

    async def prepare(self, database: str, context: SchemaContext) -> int:
        """Have the engine read what prompts on these tables begin with; the tokens of it.

        Raise PromptTooLong, or EngineUnavailable when the model cannot answer."""
        ...

    async def generate(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        *,
        before: Generated | None = None,
        deadline: Deadline = NEVER,
    ) -> Generated:
        """One round of sampling: the first, or the one that follows ``before``.

        At the deadline it ends with what is finished, or else with the first that is.

        Raise PromptTooLong, or EngineUnavailable when the model cannot answer."""
        ...


class Guard(Protocol):
    """Stage 5: nothing reaches the database but what this returns."""

    async def guard(
        self, database: str, sql: str, principal: Principal
    ) -> GuardedQuery | Violation: ...


class Executor(Protocol):
    """The read-only connection to the databases."""

    async def explain(
        self, query: GuardedQuery, *, identify: bool = False
    ) -> Explained | Diagnostic:
        """The planner's estimate; with ``identify`` also which plan it is (``Explained.plan``)."""
        ...

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> ResultSet | Diagnostic:
        """At most ``max_rows`` rows; ``limits`` are tighter than the service's own."""
        ...


class Ranker(Protocol):
    """Stage 6: EXPLAIN, score and vote over all candidates that the guard lets pass."""

    async def assess(
        self,
        question: Question,
        candidate: Candidate,
        query: GuardedQuery,
        context: SchemaContext,
        plan: Plan,
    ) -> Assessment:
        """EXPLAIN, findings and score of the candidate, which the guard made into ``query``.

        Types and keys are those of ``context``.
        """
        ...

    async def rank(
        self, question: Question, assessments: tuple[Assessment, ...], *, samples: int
    ) -> Ranking:
        """Runs what has not run and orders all. ``samples`` counts the completions drawn so far."""
        ...

    async def conclude(
        self, question: Question, context: SchemaContext, ranking: Ranking
    ) -> Ranking:
        """The last word: the winner's whole page, and how far it can be believed."""
        ...


class Repairer(Protocol):
    """Stage 7: a failed candidate becomes a new one, or None when nothing can be done."""

    async def repair(
        self,
        question: Question,
        context: SchemaContext,
        failed: Assessment,
        *,
        ask_model: bool,
        plan: Plan = ...,
        history: tuple[Assessment, ...] = ...,
    ) -> tuple[Candidate | None, Repair]:
        """By rule, or with ``ask_model`` by one call to the engine. Raise EngineUnavailable.

        ``history`` holds what the candidate repairs, and what that repaired, the original first.
        """
        ...


class FeedbackTaker(Protocol):
    """Learns from what users say of answers."""

    async def take_feedback(self, feedback: Feedback) -> FeedbackReceipt:
        """What came of it. Raise IndexUnavailable, DatabaseUnavailable, UnknownDatabase."""
        ...


@runtime_checkable
class Probe(Protocol):
    """Tells whether something this service depends on works right now."""

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """Pairs of (name, what is wrong); the second is empty where all is well."""
        ...


class Observer(Protocol):
    """Hears what happens to a question, in the event loop of who answers it."""

    def observe(self, event: QuestionEvent) -> None:
        """Called often: whenever anything has moved."""
        ...


class Answerer(Protocol):
    """Answers questions: the pipeline, or what stands around it."""

    async def answer(self, question: Question) -> Answer:
        """Raise Unavailable and its kin; every other outcome is an Answer."""
        ...


class Sessions(Protocol):
    """What a principal asked before, as far as that may still be shown."""

    async def recall(self, question: Question) -> tuple[Turn, ...]:
        """The turns of the question's session, oldest first. Raise Unavailable."""
        ...

    async def remember(self, question: Question, turn: Turn) -> None:
        """Keeps a turn in the question's session. Raise Unavailable."""
        ...

    async def forget(self, principal: Principal, session: str) -> int:
        """Forgets a session of the principal; how many turns there were. Raise Unavailable."""
        ...
