"""The input of a report: a run with its figures."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.metrics.figures import Summary
from evaluation.runs.manifest import Manifest
from evaluation.runs.records import QuestionRecord


@dataclass(frozen=True, slots=True)
class Run:
    """One run, under the ``name`` that comparisons use."""

    name: str
    manifest: Manifest
    records: tuple[QuestionRecord, ...]
    summary: Summary
