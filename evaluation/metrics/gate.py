"""Compares a run with the kept results of an exam, and decides whether it is worse.

Worse means that the whole 95 % interval of the paired difference in accuracy is below zero, or that
a question which was judged before cannot be judged any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.metrics.figures import PairedComparison
from evaluation.metrics.pairing import compare_marks
from evaluation.metrics.verdicts import NOT_JUDGED, RIGHT, find_verdict
from evaluation.runs.kept_results import KeptResult, keep_result
from evaluation.runs.records import QuestionRecord
from nl2sql.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Change:
    """A question whose verdict changed; ``why`` details the new one."""

    id: str
    question: str
    before: str
    now: str
    why: str


@dataclass(frozen=True, slots=True)
class GateReport:
    """The comparison, and the questions that changed.

    ``unjudged`` counted in the kept results; now their right queries give no result. ``rewritten``
    is the number of those with the same verdict and another query.
    """

    comparison: PairedComparison
    lost: tuple[Change, ...]
    won: tuple[Change, ...]
    unjudged: tuple[Change, ...]
    rewritten: int

    @property
    def passed(self) -> bool:
        """False if the run is worse."""
        return self.comparison.difference.high >= 0 and not self.unjudged


def compare_with_kept(
    kept_name: str,
    kept: Sequence[KeptResult],
    run_name: str,
    records: Sequence[QuestionRecord],
    dialect: str,
) -> GateReport:
    """Compares the run with the kept results, question by question.

    New questions and those that left the exam count on neither side. Raises SettingsError if no
    question that counts is in both: then nothing was compared.
    """
    before = {result.id: result for result in kept}
    now = {record.id: keep_result(record, dialect) for record in records}
    left, right = (
        {id_: each.verdict == RIGHT for id_, each in side.items() if each.verdict != NOT_JUDGED}
        for side in (before, now)
    )
    comparison = compare_marks(kept_name, left, run_name, right)
    if not comparison.shared:
        raise SettingsError(
            f"{kept_name} and this run share no question that counts.",
            hint="Is it the file of this exam? --update writes it anew.",
        )
    changes = [
        Change(
            record.id, record.question, before[record.id].verdict, *find_verdict(record, dialect)
        )
        for record in records
        if record.id in before and before[record.id].verdict != now[record.id].verdict
    ]
    lost, won = set(comparison.lost), set(comparison.gained)
    return GateReport(
        comparison,
        lost=tuple(change for change in changes if change.id in lost),
        won=tuple(change for change in changes if change.id in won),
        unjudged=tuple(change for change in changes if change.now == NOT_JUDGED),
        rewritten=sum(
            result.sql != before[id_].sql and result.verdict == before[id_].verdict
            for id_, result in now.items()
            if id_ in before
        ),
    )
