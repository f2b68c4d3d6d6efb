"""Stores the last answer of ``quorumsql ask`` for commands that refer to it.

The last answer is for feedback, the interpretations of the last clarify answer for ``ask --pick``.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nl2sql.errors import SettingsError
from quorumsql.contract import AnsweredResponse, ClarifyResponse, QueryResponse

_ANSWER, _INTERPRETATIONS = "last_answer.json", "last_interpretations.json"


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """A question, the query that answered it, and who asked (empty: the local principal).

    ``reference`` stands for the query where the principal sees answers only.
    """

    database: str
    question: str
    sql: str
    principal: str
    reference: str = ""


@dataclass(frozen=True, slots=True)
class LastInterpretations:
    """A question with the outcome clarify, and the queries of its interpretations, best first.

    References stand for queries that the principal does not see.
    """

    database: str
    question: str
    interpretations: tuple[str, ...]
    principal: str

    def pick(self, number: int) -> str:
        """The query of an interpretation, counted from 1. Raises SettingsError."""
        if not 1 <= number <= len(self.interpretations):
            raise SettingsError(
                f"There is no interpretation {number} of “{self.question}”.",
                hint=f"There are {len(self.interpretations)}, counted from 1.",
            )
        return self.interpretations[number - 1]


def remember(home: Path, answer: QueryResponse, principal: str) -> None:
    """Stores an answered or clarify outcome under ``home``; ignores other outcomes."""
    if isinstance(answer, AnsweredResponse):
        # Feedback is about the complete question, if this one was a follow-up.
        asked = answer.rewritten or answer.question
        note(home, LastAnswer(answer.database, asked, answer.sql, principal, answer.reference))
    elif isinstance(answer, ClarifyResponse):
        queries = tuple(chosen.sql or chosen.reference for chosen in answer.interpretations)
        note(home, LastInterpretations(answer.database, answer.question, queries, principal))


def note(home: Path, last: LastAnswer | LastInterpretations) -> None:
    """Stores it in a file that only this user can read; ignores a folder that is not writable."""
    _write(home, _ANSWER if isinstance(last, LastAnswer) else _INTERPRETATIONS, asdict(last))


def recall_answer(home: Path) -> LastAnswer:
    """The last stored answer. Raises SettingsError if there is none."""
    try:
        return LastAnswer(**_read(home, _ANSWER))
    except (OSError, ValueError, TypeError) as error:
        raise SettingsError(
            "There is no last answer.", hint="Ask first, or name --question and --sql."
        ) from error


def recall_interpretations(home: Path) -> LastInterpretations:
    """The last stored interpretations. Raises SettingsError if there are none."""
    try:
        value = _read(home, _INTERPRETATIONS)
        return LastInterpretations(**{**value, "interpretations": tuple(value["interpretations"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SettingsError(
            "There is nothing to pick from.", hint="Ask a question first."
        ) from error


def _write(home: Path, name: str, value: dict[str, Any]) -> None:
    with suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(home / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(value, file)


def _read(home: Path, name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((home / name).read_text(encoding="utf-8"))
    return value
