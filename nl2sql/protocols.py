"""The interfaces between the stages. A stage folder imports these, never another stage.

All calls are coroutines, so that a stage can run in this process or behind a deployment handle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from nl2sql.answers import Answer, QuestionEvent
from nl2sql.catalog import Catalog
from nl2sql.deadline import NEVER, Deadline
from nl2sql.types import (
    AnswerText,
    Assessment,
    Candidate,
    Completions,
    Diagnostic,
    DraftQuery,
    ExecutionLimits,
    Explained,
    Generated,
    GuardedQuery,
    Intent,
    ModuleRoute,
    Plan,
    Principal,
    Question,
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
    """Retrieval: which modules and tables a question is about."""

    async def retrieve(
        self, question: Question, *, draft: str = ""
    ) -> tuple[ModuleRoute, SchemaContext]:
        """Find the modules and tables; the names in the query ``draft`` are searched for too.

        Raise IndexUnavailable when the index does not answer or does not exist."""
        ...

    async def list_beginnings(
        self, database: str, principal: Principal
    ) -> tuple[SchemaContext, ...]:
        """The contexts that a principal's prompts begin with, one for each module shown whole.

        Raise as ``retrieve`` does."""
        ...


class CatalogSource(Protocol):
    """Gives the indexed catalog of a database."""

    async def catalog(self, database: str) -> Catalog:
        """Raise IndexUnavailable when the database was never indexed."""
        ...


class Visibility(Protocol):
    """Determines which part of a database a principal may see, down to rows and masks."""

    async def visible_catalog(self, database: str, principal: Principal) -> Catalog | Violation:
        """The part of the catalog that the principal may see, or a violation if there is none.

        Raise IndexUnavailable when the database was never indexed, PolicyError when its policy does
        not fit it.
        """
        ...

    async def open_columns(self, database: str, principal: Principal) -> frozenset[str] | None:
        """``schema.table.column`` of every column of which the principal may see all values.

        None means all columns of the database. Values of other columns may be shown only if a
        guarded query returned them. Raise as ``visible_catalog`` does.
        """
        ...

    async def describe_rows(
        self, database: str, principal: Principal, tables: Iterable[str]
    ) -> tuple[tuple[str, str], ...]:
        """(``schema.table``, condition) for those of the tables whose rows the policy limits.

        The condition is SQL; it is empty where the principal may not read it. Raise as
        ``visible_catalog`` does.
        """
        ...

    async def masked_columns(
        self, database: str, principal: Principal, table: str
    ) -> frozenset[str]:
        """The columns of ``schema.table`` of which some rows show NULL instead.

        Raise as ``visible_catalog`` does.
        """
        ...


class Planner(Protocol):
    """Planning: schema links and joins."""

    async def plan(self, question: Question, context: SchemaContext) -> Plan: ...


class Engine(Protocol):
    """A language model: one request, K completions."""

    async def sample(self, request: SamplingRequest) -> Completions:
        """Raise PromptTooLong, or EngineUnavailable when the model cannot answer."""
        ...

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """The number of tokens of each text in the model's tokenizer. Raise EngineUnavailable."""
        ...


class Generator(Protocol):
    """The gate, and generation: the candidates; also everything else the model writes."""

    async def gate(self, question: Question, context: SchemaContext) -> Intent:
        """Whether the question is about the database. Does not raise if no model is available."""
        ...

    async def rewrite(self, question: Question, turns: tuple[Turn, ...]) -> Rewriting:
        """Completes a follow-up question. Does not raise if no model is available."""
        ...

    async def write_answer(self, question: Question, sql: str, result: ResultSet) -> AnswerText:
        """Describes the rows in words. Does not raise if no model is available."""
        ...

    async def write_draft(self, question: Question, context: SchemaContext) -> DraftQuery:
        """A first draft of the query.

        Raise PromptTooLong, or EngineUnavailable when the model cannot answer."""
        ...

    async def prepare(self, context: SchemaContext) -> int:
        """Make the engine cache the beginning of prompts on these tables; return its tokens.

        Raise PromptTooLong, or EngineUnavailable when the model cannot answer."""
        ...

    async def generate(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        *,
        before: Generated | None = None,
        has_answer: bool = False,
        deadline: Deadline = NEVER,
    ) -> Generated:
        """One round of sampling: the first, or the one that follows ``before``.

        After the deadline it ends with the finished completions, or with the first that finishes.
        With ``has_answer`` an earlier round brought a query that runs: then this one may end with
        none, at the deadline or if the model fails.

        Raise PromptTooLong, or EngineUnavailable when the model cannot answer."""
        ...


class Guard(Protocol):
    """The guard: only queries that this returns reach the database."""

    async def guard(
        self, database: str, sql: str, principal: Principal
    ) -> GuardedQuery | Violation: ...


class Executor(Protocol):
    """The read-only connection to the databases."""

    async def explain(self, query: GuardedQuery) -> Explained | Diagnostic:
        """The planner's estimate."""
        ...

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> ResultSet | Diagnostic:
        """Run the query and return at most ``max_rows`` rows; ``limits`` may tighten the limits."""
        ...


class Ranker(Protocol):
    """Ranking: EXPLAIN, score and vote over all candidates that the guard lets pass."""

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
        """Run what has not run, vote and order. ``samples`` counts all completions so far."""
        ...

    async def conclude(
        self, question: Question, context: SchemaContext, ranking: Ranking
    ) -> Ranking:
        """Complete the ranking: fetch the winner's page of rows and compute the confidence."""
        ...


class Repairer(Protocol):
    """Repair: turns a failed candidate into a new one."""

    async def repair(
        self,
        question: Question,
        context: SchemaContext,
        failed: Assessment,
        *,
        ask_model: bool = False,
        plan: Plan = ...,
        history: tuple[Assessment, ...] = ...,
    ) -> tuple[Candidate | None, Repair]:
        """Repair by rule, or with ``ask_model`` by one call to the engine.

        The candidate is None when nothing can be done. ``history`` is the chain of candidates that
        this one repairs, the original first. Raise EngineUnavailable.
        """
        ...

    async def derive(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        parents: tuple[Candidate, ...],
        known: tuple[str, ...],
    ) -> tuple[Candidate, ...]:
        """Derive near neighbours of candidates that run, most promising first.

        None equals a query that is ``known``. Each names the candidate that it was derived from
        and the rule, and has no samples.
        """
        ...


@runtime_checkable
class Probe(Protocol):
    """Checks whether a dependency of the service works right now."""

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """Pairs of (name, problem); the problem is empty if there is none."""
        ...


class Observer(Protocol):
    """Receives what happens to a question, in the event loop that answers it."""

    def observe(self, event: QuestionEvent) -> None:
        """Called often: at every change."""
        ...


class Answerer(Protocol):
    """Answers questions: the pipeline, or what wraps it."""

    async def answer(self, question: Question) -> Answer:
        """Raise Unavailable and its subclasses; every other outcome is an Answer."""
        ...


class Conversations(Protocol):
    """The earlier questions of a principal, as far as they may still be shown."""

    async def recall(self, question: Question) -> tuple[Turn, ...]:
        """The turns of the question's session, oldest first. Raise Unavailable."""
        ...

    async def record(self, question: Question, answer: Answer) -> None:
        """Keep a question as it was asked, and how it ended. Raise Unavailable."""
        ...
