"""The last answer that ``quorumsql ask`` gave here, so that feedback can say which it is about."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from nl2sql.errors import SettingsError


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """A question, the query that answered it, and who asked (empty: the local principal)."""

    database: str
    question: str
    sql: str
    principal: str


def remember_answer(home: Path, answer: LastAnswer) -> None:
    """Notes the answer under ``home``, for this user's eyes only; not where nobody may write."""
    with suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(_find_file(home), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(answer), file)


def recall_answer(home: Path) -> LastAnswer:
    """The answer noted last. Raises SettingsError when there is none."""
    try:
        return LastAnswer(**json.loads(_find_file(home).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise SettingsError(
            "There is no last answer.", hint="Ask first, or name --question and --sql."
        ) from error


def _find_file(home: Path) -> Path:
    return home / "last_answer.json"
