"""Feedback in JSON lines files, written by an export and read by an import."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from nl2sql.types.feedback import MOST_CHARS
from retrieval.examples.json_lines import read_lines, write_lines
from retrieval.index_store.feedback_note import FeedbackNote

_HINT = "Each line is one that `quorumsql feedback export` wrote."


class _Entry(BaseModel):
    """A line of the file: feedback on one answer, without the name of the database."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(min_length=1, max_length=MOST_CHARS)
    sql: str = Field(min_length=1, max_length=MOST_CHARS)
    verdict: Literal["right", "wrong"]
    correction: str = Field("", max_length=MOST_CHARS)
    given_by: str
    # Without an access, the resulting example would be shown to everybody.
    access: str = Field(min_length=1)
    outcome: Literal["stored", "known", "removed", "recorded"]
    given_at: AwareDatetime

    @model_validator(mode="after")
    def _can_be_stored(self) -> _Entry:
        if self.correction and self.verdict == "right":
            raise ValueError("a right query needs no correction")
        if "\0" in self.question + self.sql + self.correction + self.given_by + self.access:
            raise ValueError("it holds a null character")
        return self


def read_feedback(path: Path, database: str) -> tuple[FeedbackNote, ...]:
    """All lines of a file. Raises SettingsError that names the line and the field."""
    return tuple(
        FeedbackNote(
            database,
            entry.question,
            entry.sql,
            entry.verdict == "right",
            entry.correction,
            entry.given_by,
            entry.access,
            entry.outcome,
            entry.given_at,
        )
        for entry in read_lines(path, _Entry, hint=_HINT)
    )


def write_feedback(path: Path, notes: Iterable[FeedbackNote]) -> None:
    """Writes a file that ``read_feedback`` can read. Raises SettingsError."""
    write_lines(
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
