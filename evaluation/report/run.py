"""What the report is handed: a run with its figures."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.figures import Summary
from evaluation.manifest import Manifest
from evaluation.records import QuestionRecord


@dataclass(frozen=True, slots=True)
class Run:
    """One run under the ``name`` that comparisons know it by."""

    name: str
    manifest: Manifest
    records: tuple[QuestionRecord, ...]
    summary: Summary
