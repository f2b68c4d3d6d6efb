"""Fakes of the stages of a pipeline, with queued answers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nl2sql.answers import Answer, Answered
from nl2sql.deadline import NEVER, Deadline
from nl2sql.pipeline.stages import Stages
from nl2sql.protocols import Guard, Ranker, Repairer
from nl2sql.types import (
    AnswerText,
    Assessment,
    Candidate,
    DraftQuery,
    Generated,
    Intent,
    ModuleRoute,
    Plan,
    Principal,
    Question,
    Ranking,
    Repair,
    ResultSet,
    Rewriting,
    SchemaContext,
    Turn,
)
from ranking.confidence.calibration import Calibration, Weight
from tests.fakes.builders import build_context
from tests.fakes.databases import FakeGuard
from tests.fakes.queue import Queue

_NO_PLAN = Plan()

SURE = Calibration(0.0, (Weight("weight", 0.75, 0.25, 5.0),), fewest=1, most=1, threshold=0.5)
"""A calibration that is sure of a winner that nothing contradicts."""


class FakeRetriever:
    """Returns the queued contexts; if none is queued, always the whole of ``SHOP``."""

    def __init__(self, *answers: SchemaContext | Exception) -> None:
        self._queue = Queue("FakeRetriever", answers) if answers else None
        self.questions: list[Question] = []
        self.drafts: list[str] = []

    async def retrieve(
        self, question: Question, *, draft: str = ""
    ) -> tuple[ModuleRoute, SchemaContext]:
        """The next context, routed to all of its schemas."""
        self.questions.append(question)
        self.drafts.append(draft)
        context = self._queue.next(SchemaContext, question) if self._queue else build_context()
        modules = tuple(dict.fromkeys(hit.table.schema for hit in context.tables))
        return ModuleRoute(modules, (1.0,) * len(modules)), context

    async def list_beginnings(
        self, database: str, principal: Principal
    ) -> tuple[SchemaContext, ...]:
        """The whole of ``SHOP``."""
        return (build_context(),)


class FakePlanner:
    """Returns the same plan for every question."""

    def __init__(self, plan: Plan | None = None) -> None:
        self._plan = plan or Plan()
        self.questions: list[Question] = []

    async def plan(self, question: Question, context: SchemaContext) -> Plan:
        """The plan."""
        self.questions.append(question)
        return self._plan


class FakeGenerator:
    """Refuses with ``reason`` if it is set; else returns the queued generations.

    ``draft`` is its draft of any question, or the exception that it raises instead;
    ``rewritings`` are by the question asked.
    """

    def __init__(
        self,
        *answers: Generated | Exception,
        reason: str = "",
        draft: str | Exception = "",
        rewritings: Mapping[str, Rewriting] = MappingProxyType({}),
    ) -> None:
        self._queue = Queue("FakeGenerator", answers)
        self._reason = reason
        self._draft = draft
        self._rewritings = rewritings
        self.recalled: list[tuple[Turn, ...]] = []
        self.prepared: list[SchemaContext] = []
        self.questions: list[Question] = []
        self.handed_on: list[Generated | None] = []
        self.deadlines: list[Deadline] = []

    async def gate(self, question: Question, context: SchemaContext) -> Intent:
        """Off topic, if there is a reason to refuse."""
        return Intent("off_topic" if self._reason else "", self._reason)

    async def rewrite(self, question: Question, turns: tuple[Turn, ...]) -> Rewriting:
        """The given rewriting of the question; else the question is unchanged."""
        self.recalled.append(turns)
        return self._rewritings.get(question.text, Rewriting())

    async def write_answer(self, question: Question, sql: str, result: ResultSet) -> AnswerText:
        """How many rows there are, at 100 prompt tokens and 10 completion tokens."""
        return AnswerText(f"{len(result.rows)} rows.", question.answer_text, 100, 10)

    async def prepare(self, context: SchemaContext) -> int:
        """Counts 100 tokens; ``prepared`` has the contexts."""
        self.prepared.append(context)
        return 100

    async def write_draft(self, question: Question, context: SchemaContext) -> DraftQuery:
        """The draft, at 100 prompt tokens and 10 completion tokens."""
        if isinstance(self._draft, Exception):
            raise self._draft
        return DraftQuery(self._draft, prompt_tokens=100, completion_tokens=10)

    async def pause(self) -> None:
        """What comes before each generation, in subclasses."""

    async def generate(
        self,
        question: Question,
        *_: object,
        before: Generated | None = None,
        has_answer: bool = False,
        deadline: Deadline = NEVER,
    ) -> Generated:
        """The next generation."""
        await self.pause()
        self.questions.append(question)
        self.handed_on.append(before)
        self.deadlines.append(deadline)
        return self._queue.next(Generated, question)


class FakeRanker:
    """Assesses by SQL, ranks by queue; both histories are kept."""

    def __init__(
        self, assessments: Mapping[str, Assessment], *rankings: Ranking | Exception
    ) -> None:
        self._assessments = dict(assessments)
        self._queue = Queue("FakeRanker", rankings)
        self.assessed: list[Candidate] = []
        self.ranked: list[tuple[Assessment, ...]] = []
        self.contexts: list[SchemaContext] = []

    async def assess(self, _: Question, candidate: Candidate, *__: object) -> Assessment:
        """The given assessment of the candidate's SQL."""
        self.assessed.append(candidate)
        return self._assessments[candidate.sql]

    async def rank(
        self, question: Question, assessments: tuple[Assessment, ...], *, samples: int
    ) -> Ranking:
        """The next ranking, whatever it is asked to rank."""
        self.ranked.append(assessments)
        return self._queue.next(Ranking, assessments)

    async def conclude(
        self, question: Question, context: SchemaContext, ranking: Ranking
    ) -> Ranking:
        """The ranking as it is."""
        self.contexts.append(context)
        return ranking


class FakeRepairer:
    """Returns the queued repairs: a new query, ``""`` for none, or raises an exception.

    ``derived`` are the queries derived for every question.
    """

    def __init__(self, *answers: str | Exception, derived: tuple[str, ...] = ()) -> None:
        self._derived = derived
        self.parents: list[tuple[Candidate, ...]] = []
        self._queue = Queue("FakeRepairer", answers)
        self.failed: list[Assessment] = []
        self.may_ask_model: list[bool] = []
        self.histories: list[tuple[Assessment, ...]] = []

    async def repair(
        self,
        question: Question,
        context: SchemaContext,
        failed: Assessment,
        *,
        ask_model: bool = False,
        plan: Plan = _NO_PLAN,
        history: tuple[Assessment, ...] = (),
    ) -> tuple[Candidate | None, Repair]:
        """The next query as a candidate; it has no samples of its own."""
        self.failed.append(failed)
        self.may_ask_model.append(ask_model)
        self.histories.append(history)
        sql = self._queue.next(str, failed)
        name = failed.candidate.id
        if not sql:
            return None, Repair(name, "broken", "fake", "none")
        candidate = Candidate(f"{name}r", sql, 0, "repair", name)
        return candidate, Repair(name, "broken", "fake", "failed", sql)

    async def derive(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        parents: tuple[Candidate, ...],
        known: tuple[str, ...],
    ) -> tuple[Candidate, ...]:
        """The ``derived`` queries as candidates derived from the first parent."""
        self.parents.append(parents)
        return tuple(
            Candidate(f"d{number}", sql, 0, "derived", derived_from=parents[0].id, rule="fake")
            for number, sql in enumerate(self._derived, start=1)
        )


class FakeConversations:
    """Conversations in memory by session; with ``error`` all methods raise it."""

    def __init__(self, *turns: Turn, session: str = "s", error: Exception | None = None) -> None:
        self.turns: dict[str, tuple[Turn, ...]] = {session: turns}
        self.error = error

    async def recall(self, question: Question) -> tuple[Turn, ...]:
        """The turns of the question's session."""
        if self.error is not None:
            raise self.error
        return self.turns.get(question.session, ())

    async def record(self, question: Question, answer: Answer) -> None:
        """Adds a turn."""
        if self.error is not None:
            raise self.error
        sql = answer.sql if isinstance(answer, Answered) else ""
        turn = Turn(answer.trace.question.text, type(answer).__name__.lower(), sql)
        self.turns[question.session] = (*self.turns.get(question.session, ()), turn)

    async def delete(self, principal: Principal, session: str = "") -> tuple[int, int]:
        """Deletes a conversation."""
        if self.error is not None:
            raise self.error
        return 1, len(self.turns.pop(session, ()))


def build_stages(
    *,
    guard: Guard | None = None,
    ranker: Ranker | None = None,
    repairer: Repairer | None = None,
) -> Stages:
    """The stages of a pipeline; fakes where none is given."""
    return Stages(
        FakeRetriever(),
        FakePlanner(),
        FakeGenerator(),
        guard or FakeGuard(),
        ranker or FakeRanker({}),
        repairer or FakeRepairer(),
    )
