"""What the report is handed: a run with its figures."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.metrics.figures import Summary
from evaluation.runs.manifest import Manifest
from evaluation.runs.records import QuestionRecord


@dataclass(frozen=True, slots=True)
class Run:
    """One run under the ``name`` that comparisons know it by."""

    name: str
    manifest: Manifest
    records: tuple[QuestionRecord, ...]
    summary: Summary
