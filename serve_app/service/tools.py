"""What programs do with databases besides asking: run a query, describe and search tables.

Each is limited to what the principal may see. Knows nothing of MCP or ray.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field

from nl2sql.answers import Answer, Answered, Failed, Refused, Trace
from nl2sql.deadline import ending_in
from nl2sql.errors import Forbidden
from nl2sql.protocols import Executor, Guard, Retriever
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import (
    Assessment,
    Candidate,
    Diagnostic,
    Principal,
    Question,
    Ranking,
    SchemaContext,
    Violation,
)
from ranking.query_words import describe_apart
from retrieval.schema_directory import SchemaDirectory, TableDescriptions
from serve_app.service.accounting import Accounting
from serve_app.service.admission import AdmissionController
from serve_app.service.request_checks import MOST_QUESTION_CHARS, check_filled, choose_max_rows
from serve_app.settings import Settings

# The guard refuses longer queries.
_MOST_SQL = 20_000
# The most tables that are described or listed at once.
_MOST_TABLES = 200


@dataclass(frozen=True, slots=True)
class ToolService:
    """Runs queries and describes schemas; queries and searches take turns with the questions.

    ``accounting`` applies the limits of principals to all of them, and records them.
    """

    settings: Settings
    admission: AdmissionController
    _: KW_ONLY
    guard: Guard
    executor: Executor
    retriever: Retriever
    schemas: SchemaDirectory
    accounting: Accounting = field(default_factory=Accounting)

    async def run(
        self, database: str | None, sql: str, principal: Principal, max_rows: int | None = None
    ) -> Answer:
        """Guards the query and runs it read-only; it is counted and recorded like a question.

        The answer's ranking has one candidate, with the guarded query if it passed. Raises
        InvalidRequest, UnknownDatabase, LimitReached, Unavailable, PolicyError, DeadlineExceeded.
        """
        question = Question(
            text=check_filled("sql", sql, _MOST_SQL),
            database=self.settings.database_name(database, principal),
            principal=principal,
            k=1,
            seed=0,
            max_rows=choose_max_rows(max_rows, self.settings.limits),
        )
        async with self.accounting.open(question) as account:
            account.finish(await self._run(account.question))
        return account.answer

    async def _run(self, question: Question) -> Answer:
        """Runs the query that is the question's text, as an answer with one candidate."""
        seconds = self.settings.limits.request_timeout_ms / 1000
        async with ending_in(seconds), self.admission.take(question.principal.name):
            query = await self.guard.guard(question.database, question.text, question.principal)
            if isinstance(query, Violation):
                return Refused(query.code, query.message, Trace(question))
            result = await self.executor.execute(query, question.max_rows)
        candidate = Candidate("run", question.text, 0, origin="chosen")
        if isinstance(result, Diagnostic):
            assessment = Assessment(candidate, query, diagnostic=result)
            trace = Trace(question, ranking=Ranking((assessment,)))
            return Failed(f"{result.message} {result.hint}".rstrip(), trace)
        assessment = Assessment(candidate, query, result=result)
        trace = Trace(question, ranking=Ranking((assessment,)))
        dialect = self.settings.by_name[question.database].dialect
        words = await run_in_parser_thread(describe_apart, (question.text,), dialect)
        return Answered(question.text, result, 1.0, False, trace, description=words[0])

    async def describe_tables(
        self, database: str | None, names: Sequence[str], principal: Principal
    ) -> TableDescriptions:
        """The tables of these names, all if there are none; at most 200.

        Counted and recorded like a question. Raises InvalidRequest, UnknownDatabase, Forbidden,
        LimitReached, Unavailable, PolicyError.
        """
        wanted = tuple(
            check_filled("tables", table, MOST_QUESTION_CHARS) for table in names[:_MOST_TABLES]
        )
        text = f"describe_tables: {', '.join(wanted)}" if wanted else "describe_tables"
        name = self.settings.database_name(database, principal)
        async with self.accounting.record(text, name, principal):
            return await self.schemas.describe_tables(name, wanted, principal, _MOST_TABLES)

    async def search_schema(
        self, database: str | None, text: str, principal: Principal
    ) -> SchemaContext:
        """The tables that a text is about, most relevant first, with values and examples.

        Counted and recorded like a question. Raises as ``describe_tables`` does.
        """
        text = check_filled("text", text, MOST_QUESTION_CHARS)
        name = self.settings.database_name(database, principal)
        searched = Question(text, name, principal, k=1, seed=0, max_rows=1)
        async with self.accounting.record(f"search_schema: {text}", name, principal):
            async with self.admission.take(principal.name):
                _, context = await self.retriever.retrieve(searched)
            if context.refusal:
                raise Forbidden(context.refusal)
        return context


def find_refusal(answer: Answer) -> tuple[str, str]:
    """Why ``ToolService.run`` has no rows: (code, reason) of the guard or of the database."""
    if isinstance(answer, Refused):
        return answer.code, answer.reason
    ranking = answer.trace.ranking
    failed = ranking.assessments[0].diagnostic if ranking else None
    reason = answer.reason if isinstance(answer, Failed) else ""
    return failed.sqlstate if failed else "failed", reason
