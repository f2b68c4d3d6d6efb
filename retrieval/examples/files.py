"""Examples and feedback in JSON lines files, written by people or by an export.

A line of examples is ``{"question", "sql", "roles"?}``; an export adds ``source``, ``given_by``,
``access``, ``created_at`` and ``reviewed``, so that after an import the same principals can see the
examples. A pydantic model checks each line that is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from nl2sql.errors import SettingsError
from nl2sql.types.question import MOST_CHARS
from retrieval.index_store.example_store import Source, VerifiedExample
from retrieval.index_store.feedback_store import FeedbackNote

_HINT = 'Each line is {"question": …, "sql": …}, with "roles": […] if only some may see it.'


class Pair(BaseModel):
    """A line of the file: a question and its query."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(min_length=1, max_length=MOST_CHARS)
    sql: str = Field(min_length=1, max_length=MOST_CHARS)
    roles: tuple[str, ...] = ()
    source: Source = "file"
    given_by: str = ""
    access: str = ""
    created_at: datetime | None = None
    reviewed: bool = False

    @model_validator(mode="after")
    def _feedback_has_an_access(self) -> Pair:
        # Without an access it would be shown to everybody.
        if (self.source == "feedback") != bool(self.access):
            raise ValueError("an access is required for the source 'feedback', and only for it")
        if "\0" in self.question + self.sql:
            raise ValueError("it holds a null character")
        return self


def read_pairs(path: Path) -> tuple[Pair, ...]:
    """All lines of a file. Raises SettingsError that names the line and the field."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}.") from error
    # Not splitlines(): it also splits at U+2028, which JSON allows inside a string.
    lines = enumerate(text.split("\n"), start=1)
    return tuple(_read_line(path, number, line) for number, line in lines if line.strip())


def write_examples(path: Path, examples: Iterable[VerifiedExample]) -> None:
    """Writes a file that ``read_pairs`` can read. Raises SettingsError."""
    _write_lines(
        path,
        (
            {
                "question": example.question,
                "sql": example.sql,
                **({"roles": list(example.roles)} if example.roles else {}),
                "source": example.source,
                "given_by": example.given_by,
                **({"access": example.access} if example.access else {}),
                "created_at": example.created_at.isoformat(),
                **({"reviewed": True} if example.reviewed else {}),
            }
            for example in examples
        ),
    )


def write_feedback(path: Path, notes: Iterable[FeedbackNote]) -> None:
    """Writes a file for people and other programs. Raises SettingsError."""
    _write_lines(
        path,
        (
            {
                "question": note.question,
                "sql": note.sql,
                "verdict": "right" if note.is_right else "wrong",
                **({"correction": note.correction} if note.correction else {}),
                "given_by": note.given_by,
                "access": note.access,
                "outcome": note.outcome,
                "given_at": note.given_at.astimezone(UTC).isoformat(),
            }
            for note in notes
        ),
    )


def _read_line(path: Path, number: int, line: str) -> Pair:
    try:
        return Pair.model_validate(json.loads(line))
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(map(str, problem["loc"])) or "the line"
        text = f"{field}: {problem['msg'].removeprefix('Value error, ')}"
    except ValueError as error:
        text = f"is not JSON: {error}"
    raise SettingsError(f"{path}, line {number}: {text}.", hint=_HINT)


def _write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Writes a file and creates its folder if necessary."""
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}.") from error
