"""Single operations that are counted and recorded like questions, though nothing is asked.

Knows nothing of what they do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from nl2sql.answers import Answer, Answered, Refused, Trace
from nl2sql.protocols import Observer
from nl2sql.settings import Settings
from nl2sql.types import Principal, Question, ResultSet
from serve_app.service.accounting import Accounting, Work

_NO_ROWS = ResultSet((), (), (), truncated=False, ms=0.0)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing was done. ``code`` is a violation's code, an SQLSTATE or ``not_permitted``."""

    code: str
    reason: str


class Operations:
    """Runs operations under the limits of principals, and records them."""

    def __init__(self, settings: Settings, accounting: Accounting | None = None) -> None:
        self._settings = settings
        self._accounting = accounting or Accounting()

    def build_question(self, text: str, database: str | None, principal: Principal) -> Question:
        """What accounting knows of an operation that returns no rows. Raises UnknownDatabase."""
        return Question(
            text=text,
            database=self._settings.database_name(database, principal),
            principal=principal,
            k=1,
            seed=self._settings.sampling.seed,
            max_rows=1,
        )

    def name_question(self, text: str, principal: Principal, database: str = "") -> Question:
        """As ``build_question``, for what concerns no database, or several."""
        return Question(text, database, principal, k=1, seed=0, max_rows=1)

    async def run(self, question: Question, work: Callable[[Question], Awaitable[_T]]) -> _T:
        """The result of ``work``, which is counted and recorded like a question.

        Raises what ``work`` raises; LimitReached, Unavailable.
        """
        results: list[_T] = []
        await self._accounting.answer(question, None, _wrap(work, results))
        return results[0]

    async def record(self, question: Question, work: Callable[[Question], Awaitable[_T]]) -> _T:
        """As ``run``, but limits nothing: for what uses neither the model nor a database."""
        results: list[_T] = []
        await self._accounting.record(question, _wrap(work, results))
        return results[0]


def _wrap(work: Callable[[Question], Awaitable[_T]], results: list[_T]) -> Work:
    """The work as one that answers a question; its result is added to ``results``."""

    async def answer(question: Question, _: Observer | None) -> Answer:
        result = await work(question)
        results.append(result)
        if isinstance(result, Refusal):
            return Refused(result.code, result.reason, Trace(question))
        return Answered("", _NO_ROWS, 1.0, False, Trace(question))

    return answer
