"""What became of a question in a word, with the reason if its answer is not right."""

from __future__ import annotations

from typing import NamedTuple

from evaluation.metrics.query_gaps import find_gap
from evaluation.runs.records import QuestionRecord

RIGHT, NOT_JUDGED = "right", "not judged"

_GAPS = {
    "table": "table not found",
    "value": "value not found",
    "definition": "definition missing",
    "other": "no candidate right",
}


class Verdict(NamedTuple):
    """``now`` is ``right``, ``not judged``, or why the answer is not right; ``why`` says more.

    The latter may contain values of the question and of its right query.
    """

    now: str
    why: str = ""


def find_verdict(record: QuestionRecord, dialect: str) -> Verdict:
    """The verdict on a record: by its outcome, then by what no candidate had.

    A table is not found if retrieval did not find it; a value or a definition is missing if no
    candidate has it. Several right queries: the first counts.
    """
    if not record.counts:
        return Verdict(NOT_JUDGED, record.gold_error)
    if record.correct:
        return Verdict(RIGHT)
    if record.outcome in ("error", "refused"):
        return Verdict(record.outcome, record.reason)
    if any(candidate.correct for candidate in record.candidates):
        is_asked = record.outcome == "clarify"
        return Verdict("asked back with a right candidate" if is_asked else "lost by the vote")
    gap = find_gap(
        record.gold,
        [candidate.sql for candidate in record.candidates],
        record.question,
        dialect,
        tables=[table["table"] for table in record.trace.get("tables", ())],
    )
    return Verdict(_GAPS[gap.kind], ", ".join(gap.names))
