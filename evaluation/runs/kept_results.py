"""The results of an exam as a small file for Git: no question, no query, no rows.

A line of JSON for each question, in the order of the exam, so that a diff shows what changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from evaluation.metrics.verdicts import find_verdict
from evaluation.runs.journal_files import read_lines
from evaluation.runs.records import QuestionRecord, Record
from nl2sql.errors import SettingsError

_HASH_CHARS = 12


class KeptResult(Record):
    """One question: the verdict, the confidence, and the SHA-256 of the query, cut to 12 digits."""

    id: str
    verdict: str
    confidence: float
    sql: str


def keep_result(record: QuestionRecord, dialect: str) -> KeptResult:
    """What is kept of a record; an empty ``sql`` if there was no answer."""
    digest = hashlib.sha256(record.sql.encode("utf-8", "replace")).hexdigest()
    return KeptResult(
        id=record.id,
        verdict=find_verdict(record, dialect).name,
        confidence=round(record.confidence, 3),
        sql=digest[:_HASH_CHARS] if record.sql else "",
    )


def read_kept(path: Path) -> tuple[KeptResult, ...]:
    """The results in a file. Raises SettingsError if it is missing or holds something else."""
    if not path.exists():
        raise SettingsError(
            f"There are no kept results {path}.", hint="Add --update: this run becomes the first."
        )
    try:
        return tuple(KeptResult.model_validate(line) for line in read_lines(path))
    except (ValidationError, ValueError, OSError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error


def write_kept(path: Path, kept: Sequence[KeptResult]) -> None:
    """Writes the file anew."""
    lines = (json.dumps(result.model_dump(), ensure_ascii=False) for result in kept)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
