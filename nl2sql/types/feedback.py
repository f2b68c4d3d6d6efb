"""Users' feedback on answers, and its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nl2sql.types.question import Principal

FeedbackOutcome = Literal["stored", "known", "removed", "recorded", "refused"]

MOST_CHARS = 4000
"""Most characters of an example's question, and of its query: longer ones would fill the prompt."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Whether ``sql`` answers the question, and otherwise the ``correction``, if it is known.

    ``is_reviewed``: the principal may review answers, so the right query holds for others too.
    """

    database: str
    question: str
    sql: str
    is_right: bool
    principal: Principal
    correction: str = ""
    is_reviewed: bool = False

    @property
    def right_sql(self) -> str:
        """The query that answers the question according to the feedback; else empty."""
        return self.correction or (self.sql if self.is_right else "")


@dataclass(frozen=True, slots=True)
class FeedbackReceipt:
    """The outcome of a feedback.

    The query was ``stored`` as the example with this id, was ``known`` already, was ``removed``
    from the examples, the feedback was only ``recorded``, or it was ``refused``: the principal
    cannot run the query, and ``reason`` says why.
    """

    outcome: FeedbackOutcome
    example: str = ""
    reason: str = ""
