"""Feedback on an answer, as it is stored."""

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
    """Whether ``sql`` answers ``question`` according to ``given_by``, and the outcome.

    ``correction`` and ``outcome`` may be empty; ``access`` is the access key of the sender.
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
        """A hash of content and sender, so that repeated feedback is one note."""
        content = (
            self.database,
            self.question,
            self.sql,
            self.is_right,
            self.correction,
            self.given_by,
            self.access,
        )
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]

    @property
    def right_sql(self) -> str:
        """The query that answers the question according to the note; empty if there is none."""
        return self.correction or (self.sql if self.is_right else "")


def build_note(feedback: Feedback, given_at: datetime) -> FeedbackNote:
    """The note of new feedback, without an outcome."""
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
