"""Work that is counted and recorded like a question, though nothing is asked.

Knows nothing of what is done.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from nl2sql.answers import Answer, Answered, Refused, Trace
from nl2sql.settings import Settings
from nl2sql.types import Principal, Question, ResultSet
from serve_app.service.accounting import Accounting

_NO_ROWS = ResultSet((), (), (), truncated=False, ms=0.0)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing was done. ``code`` is a violation's code, an SQLSTATE or ``not_permitted``."""

    code: str
    reason: str


class AccountedWork:
    """Runs work under the limits of principals, and records them."""

    def __init__(self, settings: Settings, accounting: Accounting | None = None) -> None:
        self._settings = settings
        self._accounting = accounting or Accounting()

    def build_question(self, text: str, database: str | None, principal: Principal) -> Question:
        """What accounting knows of work that returns no rows. Raises UnknownDatabase."""
        return Question(
            text=text,
            database=self._settings.database_name(database, principal),
            principal=principal,
            k=1,
            seed=0,
            max_rows=1,
        )

    def name_question(self, text: str, principal: Principal, database: str = "") -> Question:
        """As ``build_question``, for what concerns no database, or several."""
        return Question(text, database, principal, k=1, seed=0, max_rows=1)

    async def run(
        self,
        question: Question,
        work: Callable[[Question], Awaitable[_T]],
        *,
        is_limited: bool = True,
    ) -> _T:
        """The result of ``work``, which is counted and recorded like a question.

        Without ``is_limited`` it is only recorded: for what uses neither the model nor a database.
        Raises what ``work`` raises; LimitReached, Unavailable.
        """
        async with self._accounting.open(question, is_limited=is_limited) as account:
            result = await work(account.question)
            account.finish(_describe(account.question, result))
        return result

    async def record(self, question: Question, work: Callable[[Question], Awaitable[_T]]) -> _T:
        """As ``run`` without limits."""
        return await self.run(question, work, is_limited=False)


def _describe(question: Question, result: object) -> Answer:
    """What the audit log holds of a result."""
    if isinstance(result, Refusal):
        return Refused(result.code, result.reason, Trace(question))
    return Answered("", _NO_ROWS, 1.0, False, Trace(question))
