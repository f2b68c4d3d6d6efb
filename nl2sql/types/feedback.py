"""What a user says of an answer, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nl2sql.types.question import Principal

FeedbackOutcome = Literal["stored", "known", "removed", "recorded", "refused"]

MOST_CHARS = 4000
"""Of an example's question, and of its query: longer ones would fill the prompt."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Whether ``sql`` answers the question, and the query that does where it is another one."""

    database: str
    question: str
    sql: str
    is_right: bool
    principal: Principal
    correction: str = ""

    @property
    def right_sql(self) -> str:
        """The query that answers the question, as far as was said; else empty."""
        return self.correction or (self.sql if self.is_right else "")


@dataclass(frozen=True, slots=True)
class FeedbackReceipt:
    """What came of it.

    ``stored`` as the example of that id, ``known`` already, ``removed`` from the examples,
    ``recorded`` only, or ``refused``: the query cannot be run by who sent it, and ``reason`` says
    why.
    """

    outcome: FeedbackOutcome
    example: str = ""
    reason: str = ""
