"""Computes the figures of a retrieval run from its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.metrics.figures import Estimate, Percentiles
from evaluation.metrics.statistics import average, estimate, measure_stages
from evaluation.retrieval.runner import RetrievalRecord
from evaluation.retrieval.search import SearchFinding

RECALL_AT = (1, 3, 5, 8, 12)


@dataclass(frozen=True, slots=True)
class VariantFigures:
    """One variant over all questions.

    ``all_tables`` is the share of questions for which every gold table is shown, ``tables`` the
    mean share of gold tables shown, ``recall_at`` that among the first k, ``columns`` the mean
    share of gold columns kept in the shown gold tables. ``shown_*`` are means per question;
    ``missed`` names the questions for which a table was not found.
    """

    variant: str
    questions: int
    all_tables: Estimate
    tables: Estimate
    recall_at: Mapping[int, Estimate]
    columns: Estimate
    shown_tables: float
    shown_columns: float
    shown_tokens: float
    stages_ms: Mapping[str, Percentiles]
    missed: Mapping[str, Sequence[str]]
    errors: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RetrievalFigures:
    """All figures of a run. ``not_counted`` pairs a question with the reason."""

    variants: tuple[VariantFigures, ...]
    not_counted: tuple[tuple[str, str], ...]


def summarize(records: Sequence[RetrievalRecord]) -> RetrievalFigures:
    """The figures of every variant, over the questions that are counted."""
    counted = [record for record in records if not record.gold_error]
    return RetrievalFigures(
        tuple(_measure(name, counted) for name in counted[0].findings) if counted else (),
        tuple((record.id, record.gold_error) for record in records if record.gold_error),
    )


def recall(record: RetrievalRecord, finding: SearchFinding, k: int | None = None) -> float:
    """The share of gold tables among the first ``k``, or among those shown."""
    return len({*finding.tables[:k]} & {*record.gold_tables}) / len(record.gold_tables)


def _measure(name: str, records: Sequence[RetrievalRecord]) -> VariantFigures:
    pairs = [(record, record.findings[name]) for record in records]
    findings = [finding for _, finding in pairs]
    missed: dict[str, list[str]] = {}
    for record, finding in pairs:
        for table in finding.missed_tables:
            missed.setdefault(table, []).append(record.id)
    return VariantFigures(
        variant=name,
        questions=len(records),
        all_tables=estimate([float(not finding.missed_tables) for finding in findings]),
        tables=estimate([recall(record, finding) for record, finding in pairs]),
        recall_at={
            k: estimate([recall(record, finding, k) for record, finding in pairs])
            for k in RECALL_AT
        },
        columns=estimate([share for pair in pairs if (share := _column_recall(*pair)) is not None]),
        shown_tables=average([len(finding.tables) for finding in findings]),
        shown_columns=average([finding.columns for finding in findings]),
        shown_tokens=average([finding.tokens for finding in findings]),
        stages_ms=measure_stages(finding.stages_ms for finding in findings),
        missed=missed,
        errors=tuple((record.id, finding.error) for record, finding in pairs if finding.error),
    )


def _column_recall(record: RetrievalRecord, finding: SearchFinding) -> float | None:
    """The share of gold columns kept in shown gold tables; None if no such table is shown."""
    inside = [
        column for column in record.gold_columns if _table_of(column, record) in finding.tables
    ]
    if not inside:
        return None
    return 1 - len(set(finding.missed_columns) & set(inside)) / len(inside)


def _table_of(column: str, record: RetrievalRecord) -> str:
    """The gold table of the column. Names may contain dots, so they are not split."""
    return next((table for table in record.gold_tables if column.startswith(f"{table}.")), "")
