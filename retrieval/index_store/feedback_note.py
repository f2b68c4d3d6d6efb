"""What somebody said of an answer, as it is stored."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from nl2sql.types import Feedback, FeedbackOutcome
from retrieval.index_store.verified_example import build_access_key


@dataclass(frozen=True, slots=True)
class FeedbackNote:
    """Whether ``sql`` answers ``question``, who said so, and what came of it.

    ``correction`` is empty where there is none, ``outcome`` before anything came of it; ``access``
    is the access key of who said it.
    """

    database: str
    question: str
    sql: str
    is_right: bool
    correction: str
    given_by: str
    access: str
    outcome: FeedbackOutcome | Literal[""]
    given_at: datetime

    @property
    def id(self) -> str:
        """A hash over what was said and by whom, so that the same said again is one note."""
        said = (
            self.database,
            self.question,
            self.sql,
            self.is_right,
            self.correction,
            self.given_by,
            self.access,
        )
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]

    @property
    def right_sql(self) -> str:
        """The query that answers the question, as far as was said; else empty."""
        return self.correction or (self.sql if self.is_right else "")


def build_note(feedback: Feedback, given_at: datetime) -> FeedbackNote:
    """The note of feedback that was not dealt with yet."""
    return FeedbackNote(
        feedback.database,
        feedback.question,
        feedback.sql,
        feedback.is_right,
        feedback.correction,
        feedback.principal.name,
        build_access_key(feedback.principal),
        "",
        given_at,
    )
