"""Files of examples: JSON lines, written by people or by an export.

A line is ``{"question", "sql", "roles"?}``; an export adds ``source``, ``given_by``, ``access`` and
``created_at``, so that what users gave stays with those who may see it when it is read back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from nl2sql.errors import SettingsError
from nl2sql.types.feedback import MOST_CHARS
from retrieval.examples.records import Source, VerifiedExample


class Pair(BaseModel):
    """A question and its query, as they stand in a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(min_length=1, max_length=MOST_CHARS)
    sql: str = Field(min_length=1, max_length=MOST_CHARS)
    roles: tuple[str, ...] = ()
    source: Source = "file"
    given_by: str = ""
    access: str = ""
    created_at: datetime | None = None

    @model_validator(mode="after")
    def _feedback_has_an_access(self) -> Pair:
        # Without one it would be shown to everybody.
        if (self.source == "feedback") != bool(self.access):
            raise ValueError("what is of the source 'feedback' has an access, and nothing else has")
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
    return tuple(_read(path, number, line) for number, line in lines if line.strip())


def write_examples(path: Path, examples: Iterable[VerifiedExample]) -> None:
    """Writes them so that ``read_pairs`` gives them back. Raises SettingsError."""
    lines = (
        json.dumps(
            {
                "question": each.question,
                "sql": each.sql,
                **({"roles": list(each.roles)} if each.roles else {}),
                "source": each.source,
                "given_by": each.given_by,
                **({"access": each.access} if each.access else {}),
                "created_at": each.created_at.isoformat(),
            },
            ensure_ascii=False,
        )
        for each in examples
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}.") from error


def _read(path: Path, number: int, line: str) -> Pair:
    try:
        return Pair.model_validate(json.loads(line))
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(map(str, problem["loc"])) or "the line"
        text = f"{field}: {problem['msg'].removeprefix('Value error, ')}"
    except ValueError as error:
        text = f"is no JSON: {error}"
    raise SettingsError(
        f"{path}, line {number}: {text}.",
        hint='Each line is {"question": …, "sql": …}, with "roles": […] where it is for some only.',
    )
