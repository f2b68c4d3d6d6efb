"""What is known of one question: who asks it, what it used and what was received of its results."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from nl2sql.answers import Answer, Answered, Clarify, Failed, QuestionEvent, Refused
from nl2sql.errors import DeadlineExceeded, Forbidden, InvalidRequest, LimitReached, Unavailable
from nl2sql.protocols import Observer
from nl2sql.types import Question, Ranking

_ERRORS: tuple[tuple[type[BaseException], str], ...] = (
    (InvalidRequest, "invalid"),
    (Forbidden, "forbidden"),
    (LimitReached, "limited"),
    (Unavailable, "unavailable"),
    (DeadlineExceeded, "timeout"),
    (asyncio.CancelledError, "cancelled"),
)


class Account:
    """One question between its limits and the audit log; also the observer of the question.

    ``question`` may ask for fewer rows than the caller did: those that remain to the principal.
    ``tokens`` are those that count when it ends.

    A caller that receives events has the rows before the answer is complete. ``sql`` is the query
    (not yet guarded) of the ``rows``, whose number is None if there were none. ``ranking`` is the
    last one.
    """

    answer: Answer

    def __init__(self, question: Question, observer: Observer | None = None) -> None:
        """Events are passed on to ``observer``."""
        self.question = question
        self.started = datetime.now(UTC)
        self.tokens = 0
        self.ranking: Ranking | None = None
        self.sql = ""
        self.rows: int | None = None
        self._observer = observer

    @property
    def observer(self) -> Observer | None:
        """This observer; None if there is nobody to pass events on to."""
        return None if self._observer is None else self

    def observe(self, event: QuestionEvent) -> None:
        """See ``Observer.observe``."""
        match event:
            case Ranking():
                self.ranking = event
            case Answered(sql=sql, result=result):
                self.sql, self.rows = sql, len(result.rows)
        if self._observer is not None:
            self._observer.observe(event)

    def finish(self, answer: Answer) -> None:
        """Takes the complete answer instead of the events before it."""
        self.answer = answer
        timings = answer.trace.timings
        self.tokens = sum(timing.prompt_tokens + timing.completion_tokens for timing in timings)
        self.ranking = answer.trace.ranking
        if isinstance(answer, Answered):
            self.sql, self.rows = answer.sql, len(answer.result.rows)
        elif isinstance(answer, Clarify):
            shown = [each.result for each in answer.interpretations if each.result is not None]
            self.rows = sum(len(result.rows) for result in shown) if shown else None


def name_outcome(outcome: Answer | BaseException | None) -> tuple[str, str]:
    """(outcome, code) of a question: the code of a refusal, or the class of an error."""
    match outcome:
        case Answered():
            return "answered", ""
        case Refused(code=code):
            return "refused", code
        case Clarify():
            return "clarify", ""
        case Failed():
            return "failed", ""
    name = next((name for kind, name in _ERRORS if isinstance(outcome, kind)), "error")
    return name, type(outcome).__name__
