"""Examples in JSON lines files, written by people or by an export.

A line is ``{"question", "sql", "roles"?}``; an export adds ``source``, ``given_by``, ``access``,
``created_at`` and ``reviewed``, so that after an import the same principals can see the examples.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from nl2sql.types.feedback import MOST_CHARS
from retrieval.examples.json_lines import read_lines, write_lines
from retrieval.index_store.verified_example import Source, VerifiedExample

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
    return read_lines(path, Pair, hint=_HINT)


def write_examples(path: Path, examples: Iterable[VerifiedExample]) -> None:
    """Writes a file that ``read_pairs`` can read. Raises SettingsError."""
    write_lines(
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
