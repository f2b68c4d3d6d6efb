"""The results of an exam, kept in Git: read, written, and compared with those of a new run.

The file has verdicts by the ids of questions, in the order of the exam; no question, query or row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.metrics.figures import PairedComparison
from evaluation.metrics.pairing import compare_marks
from evaluation.metrics.verdicts import NOT_JUDGED, RIGHT, find_verdict
from evaluation.runs.records import QuestionRecord, Record
from nl2sql.errors import SettingsError


class KeptResult(Record):
    """One question: the verdict, the confidence, and the SHA-256 of the query, cut to 12 digits."""

    verdict: str
    confidence: float
    sql: str


Kept = Mapping[str, KeptResult]
_KEPT = TypeAdapter(dict[str, KeptResult])


def keep_results(records: Iterable[QuestionRecord], dialect: str) -> dict[str, KeptResult]:
    """What is kept of records; without an answer, the query is empty."""
    return {
        record.id: KeptResult(
            verdict=find_verdict(record, dialect).now,
            confidence=round(record.confidence, 3),
            sql=hashlib.sha256(record.sql.encode("utf-8", "replace")).hexdigest()[:12],
        )
        for record in records
    }


def read_kept(path: Path) -> Kept:
    """The results in a file. Raises SettingsError if it is missing or holds something else."""
    try:
        return _KEPT.validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{path} holds no kept results: {error}", hint="--update writes those of this run."
        ) from error


def write_kept(path: Path, kept: dict[str, KeptResult]) -> None:
    """Writes the file anew."""
    path.write_bytes(_KEPT.dump_json(kept, indent=1) + b"\n")


def compare_kept(kept_name: str, kept: Kept, run_name: str, now: Kept) -> PairedComparison:
    """Compares a run with the kept results on the questions that were judged and are in both.

    A question that cannot be judged any more is not right. Raises SettingsError if none is in both:
    then nothing was compared.
    """
    judged = {id_: each for id_, each in kept.items() if each.verdict != NOT_JUDGED}
    left, right = (
        {id_: each.verdict == RIGHT for id_, each in side.items()} for side in (judged, now)
    )
    comparison = compare_marks(kept_name, left, run_name, right)
    if not comparison.shared:
        raise SettingsError(f"{kept_name} and this run share no question.")
    return comparison
