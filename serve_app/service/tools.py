"""Single operations on databases for programs: run a query, describe tables, search the schema.

Each is limited to what the principal may see. Knows nothing of MCP or ray.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from nl2sql.answers import Answer, Answered, Failed, Refused, Trace
from nl2sql.protocols import Executor, Guard, Observer, Retriever, SchemaReader
from nl2sql.settings import Settings
from nl2sql.types import (
    Assessment,
    Candidate,
    Diagnostic,
    FewShot,
    Principal,
    Question,
    Ranking,
    ResultSet,
    SchemaContext,
    TableDescriptions,
    Violation,
)
from serve_app.service.accounting import Accounting
from serve_app.service.query_service import choose_in_range
from serve_app.service.texts import check_filled
from serve_app.service.turns import Turns

# The guard refuses longer queries.
_MOST_SQL = 20_000
# The most tables that are described or listed at once.
MOST_TABLES = 200

_NO_ROWS = ResultSet((), (), (), truncated=False, ms=0.0)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing was done. ``code`` is a violation's code, an SQLSTATE or ``not_permitted``."""

    code: str
    reason: str


class ToolService:
    """Runs the operations; queries and searches take turns with the questions."""

    def __init__(
        self,
        settings: Settings,
        turns: Turns,
        *,
        guard: Guard,
        executor: Executor,
        retriever: Retriever,
        schemas: SchemaReader,
        accounting: Accounting | None = None,
    ) -> None:
        """``accounting`` applies the limits of principals to all operations, and records them."""
        self._settings = settings
        self._turns = turns
        self._guard = guard
        self._executor = executor
        self._retriever = retriever
        self._schemas = schemas
        self._accounting = accounting or Accounting()

    async def run_sql(
        self, database: str | None, sql: str, principal: Principal, max_rows: int | None = None
    ) -> ResultSet | Refusal:
        """Guards the query and runs it read-only; it is counted and recorded like a question.

        Raises InvalidRequest, UnknownDatabase, LimitReached, Unavailable, PolicyError.
        """
        limits = self._settings.limits
        question = Question(
            text=check_filled("sql", sql, _MOST_SQL),
            database=self._settings.database_name(database, principal),
            principal=principal,
            k=1,
            seed=self._settings.sampling.seed,
            max_rows=choose_in_range("max_rows", max_rows, limits.rows, limits.max_rows),
        )
        answer = await self._accounting.answer(question, None, self._run)
        if isinstance(answer, Answered):
            return answer.result
        if isinstance(answer, Refused):
            return Refusal(answer.code, answer.reason)
        ranking = answer.trace.ranking
        failed = ranking.assessments[0].diagnostic if ranking else None
        return Refusal(failed.sqlstate if failed else "failed", answer.reason)

    async def _run(self, question: Question, _: Observer | None) -> Answer:
        """Runs the query that is the question's text, as an answer with one candidate."""
        async with self._turns.take(question.principal.name):
            query = await self._guard.guard(question.database, question.text, question.principal)
            if isinstance(query, Violation):
                return Refused(query.code, query.message, Trace(question))
            result = await self._executor.execute(query, question.max_rows)
        candidate = Candidate("run", question.text, 0, origin="picked")
        if isinstance(result, Diagnostic):
            assessment = Assessment(candidate, query, diagnostic=result)
            trace = Trace(question, ranking=Ranking((assessment,)))
            return Failed(f"{result.message} {result.hint}".rstrip(), trace)
        assessment = Assessment(candidate, query, result=result)
        trace = Trace(question, ranking=Ranking((assessment,)))
        return Answered(question.text, result, 1.0, False, trace)

    async def describe_tables(
        self,
        database: str | None,
        names: Sequence[str],
        principal: Principal,
        most: int = MOST_TABLES,
    ) -> TableDescriptions | Refusal:
        """The tables of these names, all if there are none; at most ``most``.

        Counted and recorded like a question.
        Raises InvalidRequest, UnknownDatabase, LimitReached, Unavailable, PolicyError.
        """
        chars = self._settings.limits.question_chars
        wanted = tuple(check_filled("tables", table, chars) for table in names[:MOST_TABLES])
        text = f"describe_tables: {', '.join(wanted)}" if wanted else "describe_tables"

        async def describe(question: Question) -> TableDescriptions | Refusal:
            found = await self._schemas.describe_tables(question.database, wanted, principal, most)
            return Refusal(found.code, found.message) if isinstance(found, Violation) else found

        return await self._account(self._build_question(text, database, principal), describe)

    async def search_schema(
        self, database: str | None, text: str, principal: Principal
    ) -> SchemaContext | Refusal:
        """The tables that a text is about, most relevant first, with values and examples.

        Counted and recorded like a question.
        Raises InvalidRequest, UnknownDatabase, LimitReached, Unavailable, PolicyError.
        """
        searched = self._build_question(
            check_filled("text", text, self._settings.limits.question_chars), database, principal
        )

        async def search(asked: Question) -> SchemaContext | Refusal:
            async with self._turns.take(asked.principal.name):
                _, context = await self._retriever.retrieve(replace(asked, text=searched.text))
            return Refusal("not_permitted", context.refusal) if context.refusal else context

        asked = replace(searched, text=f"search_schema: {searched.text}")
        return await self._account(asked, search)

    async def list_examples(
        self, database: str | None, principal: Principal
    ) -> tuple[FewShot, ...]:
        """Verified questions with queries that the principal may see and run.

        Counted and recorded like a question.
        Raises UnknownDatabase, LimitReached, Unavailable, PolicyError.
        """

        async def list_them(question: Question) -> tuple[FewShot, ...]:
            return await self._schemas.list_examples(question.database, principal)

        question = self._build_question("list_examples", database, principal)
        return await self._account(question, list_them)

    def _build_question(self, text: str, database: str | None, principal: Principal) -> Question:
        """What accounting knows of an operation that returns no rows. Raises UnknownDatabase."""
        return Question(
            text=text,
            database=self._settings.database_name(database, principal),
            principal=principal,
            k=1,
            seed=self._settings.sampling.seed,
            max_rows=1,
        )

    async def _account(self, question: Question, work: Callable[[Question], Awaitable[_T]]) -> _T:
        """The result of ``work``, which is counted and recorded like a question."""
        results: list[_T] = []

        async def answer(question: Question, _: Observer | None) -> Answer:
            result = await work(question)
            results.append(result)
            if isinstance(result, Refusal):
                return Refused(result.code, result.reason, Trace(question))
            return Answered("", _NO_ROWS, 1.0, False, Trace(question))

        await self._accounting.answer(question, None, answer)
        return results[0]
