"""What ``quorumsql ask`` gave here last, so that what follows can say which answer it is about.

The last answer, for feedback; the readings of the last clarification, for ``ask --pick``.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nl2sql.errors import SettingsError

_ANSWER, _READINGS = "last_answer.json", "last_readings.json"


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """A question, the query that answered it, and who asked (empty: the local principal)."""

    database: str
    question: str
    sql: str
    principal: str


@dataclass(frozen=True, slots=True)
class LastReadings:
    """A question that was given back, and the queries of its readings, best first."""

    database: str
    question: str
    readings: tuple[str, ...]
    principal: str

    def pick(self, number: int) -> str:
        """The query of a reading, counted from 1. Raises SettingsError."""
        if not 1 <= number <= len(self.readings):
            raise SettingsError(
                f"There is no reading {number} of “{self.question}”.",
                hint=f"There are {len(self.readings)}, counted from 1.",
            )
        return self.readings[number - 1]


def remember_answer(home: Path, answer: LastAnswer) -> None:
    """Notes the answer under ``home``, for this user's eyes only; not where nobody may write."""
    _write(home, _ANSWER, asdict(answer))


def recall_answer(home: Path) -> LastAnswer:
    """The answer noted last. Raises SettingsError when there is none."""
    try:
        return LastAnswer(**_read(home, _ANSWER))
    except (OSError, ValueError, TypeError) as error:
        raise SettingsError(
            "There is no last answer.", hint="Ask first, or name --question and --sql."
        ) from error


def remember_readings(home: Path, readings: LastReadings) -> None:
    """Notes the readings, as ``remember_answer`` does."""
    _write(home, _READINGS, asdict(readings))


def recall_readings(home: Path) -> LastReadings:
    """The readings noted last. Raises SettingsError when there are none."""
    try:
        value = _read(home, _READINGS)
        return LastReadings(**{**value, "readings": tuple(value["readings"])})
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
