"""Tries the fix of a wrong answer on the team's exam before it is kept.

The fix holds for one question at a time and is stored nowhere. Each question is asked, counted and
recorded as any other of the reviewer's, so that whoever tries a fix can stop after any of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from evaluation.metrics.judge import Gold, has_top_level_order
from nl2sql.answers import Answer, Answered
from nl2sql.errors import InvalidRequest
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import Principal, ResultSet, TrialFix
from nl2sql.words import content_words
from quorumsql.contract import QueryRequest
from quorumsql.contract.feedback import (
    ExamQuestionResponse,
    ExamResponse,
    TrialRequest,
    TrialResponse,
)
from retrieval.conversations import find_refused
from retrieval.examples.records import MOST_CHARS, find_rejection
from retrieval.index_store.example_store import VerifiedExample, fold_question
from retrieval.index_store.feedback_store import FeedbackNote
from serve_app.service.query_service import QueryService
from serve_app.service.request_checks import NotFound, check_text
from serve_app.service.review import ReviewService
from serve_app.service.tools import ToolService, find_refusal
from serve_app.settings import Settings

MOST_QUESTIONS = 20
"""Most questions of the exam that a fix is tried on."""


@dataclass(frozen=True, slots=True)
class TrialService:
    """Asks the wrong question, or one of the exam, as if the fix were kept.

    A reviewer is shown only questions whose queries it may run. All methods raise Forbidden,
    NotFound for an entry or question that the reviewer is not shown, and Unavailable.
    """

    review: ReviewService
    queries: QueryService
    tools: ToolService

    async def list_questions(self, id_: str, principal: Principal) -> ExamResponse:
        """At most ``MOST_QUESTIONS`` of the exam, those first that share most words with it."""
        entry = await self.review.find(id_, principal)
        async with self.review.accounting.note(f"list_exam: {id_}", principal):
            found = await self._list_exam(entry, principal)
        words = set(content_words(entry.question))
        found.sort(key=lambda each: -len(words.intersection(content_words(each.question))))
        return ExamResponse(
            questions=[
                ExamQuestionResponse(id=each.id, question=each.question, sql=each.sql)
                for each in found[:MOST_QUESTIONS]
            ],
            total=len(found),
        )

    async def ask(self, id_: str, request: TrialRequest, principal: Principal) -> TrialResponse:
        """The answer while the fix holds, judged as an evaluation does.

        Also raises InvalidRequest for a definition that cannot be used or a query that cannot be an
        example, and what ``QueryService.query`` raises.
        """
        entry = await self.review.find(id_, principal)
        fix = TrialFix(
            entry.question,
            check_text("sql", request.sql, MOST_CHARS),
            check_text("name", request.name, MOST_CHARS),
            check_text("expression", request.expression, MOST_CHARS),
        )
        if fix.sql:
            await self._check_query(entry.database, fix.sql, principal)
        if not request.example:
            gold = fix.sql or entry.correction
            # Once it is kept, an example is the query of its own question.
            answer = await self._ask(entry, entry.question, principal, fix, chosen=fix.sql)
            return await self._judge(entry, answer, gold, principal)
        exam = await self._list_exam(entry, principal)
        asked = next((each for each in exam if each.id == request.example), None)
        if asked is None:
            raise NotFound("There is no such question.", field="example")
        answer = await self._ask(entry, asked.question, principal, fix)
        judged = await self._judge(entry, answer, asked.sql, principal)
        if judged.verdict == "wrong":
            without = await self._ask(entry, asked.question, principal, TrialFix())
            before = await self._judge(entry, without, asked.sql, principal)
            if before.verdict == "right":
                return judged.model_copy(update={"verdict": "lost"})
        return judged

    async def _list_exam(self, entry: FeedbackNote, principal: Principal) -> list[VerifiedExample]:
        """What reviewers called right, the latest first, without the entry's own question."""
        latest = {
            fold_question(each.question): each
            for each in await self.review.examples.list_examples(entry.database)
            if each.is_in_exam
        }
        latest.pop(fold_question(entry.question), None)
        queries = {(each.database, each.sql) for each in latest.values()}
        refused = await find_refused(self.review.guard, queries, principal)
        return [
            each for each in reversed(latest.values()) if (each.database, each.sql) not in refused
        ]

    async def _check_query(self, database: str, sql: str, principal: Principal) -> None:
        """Raises InvalidRequest unless feedback would take the query as an example."""
        guard, executor = self.tools.guard, self.tools.executor
        rejected = await find_rejection(guard, executor, database, sql, principal)
        if rejected is not None:
            raise InvalidRequest(f"It cannot become an example: {rejected.reason}", field="sql")

    async def _ask(
        self,
        entry: FeedbackNote,
        question: str,
        principal: Principal,
        fix: TrialFix,
        *,
        chosen: str = "",
    ) -> Answer:
        request = QueryRequest(
            question=question,
            database=entry.database,
            chosen_sql=chosen,
            max_rows=self.review.settings.limits.max_rows,
            answer_text="off",
        )
        return await self.queries.query(request, principal, trial=fix)

    async def _judge(
        self, entry: FeedbackNote, answer: Answer, gold: str, principal: Principal
    ) -> TrialResponse:
        """The verdict without ``lost``."""
        result = answer.result if isinstance(answer, Answered) else None
        reason = "" if isinstance(answer, Answered) else answer.reason
        if result and not _is_whole(result):
            reason = "Only the first part of its rows was read."
        settings, definition = self.review.settings, _write_definition(answer)
        judged = TrialResponse(
            question=answer.trace.question.text,
            verdict="unknown",
            sql=answer.sql if isinstance(answer, Answered) else "",
            reason=reason,
            example_shown=_is_example_shown(answer),
            definition=definition,
            keep=_tell_keeping(settings, entry.database) if definition else "",
        )
        if not gold:
            return judged
        right = await self.tools.run(entry.database, gold, principal, settings.limits.max_rows)
        if not isinstance(right, Answered):
            return judged.model_copy(update={"reason": find_refusal(right)[1]})
        if not _is_whole(right.result):
            return judged.model_copy(update={"reason": "The right query has too many rows."})
        dialect = settings.by_name[entry.database].dialect
        is_ordered = await run_in_parser_thread(has_top_level_order, gold, dialect)
        # A result with more rows than the right one is not it, whatever its first ones are.
        is_right = (
            result is not None
            and _is_whole(result)
            and Gold(((right.result, is_ordered),)).matches(result.rows)
        )
        return judged.model_copy(update={"verdict": "right" if is_right else "wrong"})


def _is_whole(result: ResultSet) -> bool:
    return not (result.truncated or result.cut)


def _is_example_shown(answer: Answer) -> bool:
    fix, context = answer.trace.question.trial, answer.trace.context
    return bool(fix and context and any(each.sql == fix.sql for each in context.examples))


def _write_definition(answer: Answer) -> str:
    """What is on trial, as in the file of definitions; empty if the question does not name it."""
    fix, context = answer.trace.question.trial, answer.trace.context
    if fix is None or context is None:
        return ""
    found = [each for each in context.definitions if each.name == fix.name]
    lines = {f"{each.kind}s": {fix.name: fix.expression} for each in found}
    return yaml.safe_dump(lines, allow_unicode=True) if lines else ""


def _tell_keeping(settings: Settings, database: str) -> str:
    """The file of definitions as the settings name it, and what checks it."""
    own = settings.assistants.get(database)
    has_own = own is None or own.semantics is not None
    source = database if has_own else settings.source_of(database)
    section = "databases" if source not in settings.assistants else "assistants"
    file = settings.by_name[database].semantics
    place = f"`{file}`" if file else f"a file that `{section}.{source}.semantics` names"
    return (
        f"Add these lines to {place}, below its heading of the same name. "
        f"`quorumsql doctor {source} --definitions` checks it; then restart the service."
    )
