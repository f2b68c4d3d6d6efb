"""Runs with their figures, in sections: one for each benchmark, with and without evidence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.metrics.figures import PairedComparison, Summary
from evaluation.runs.manifest import RunManifest, find_differences
from evaluation.runs.records import QuestionRecord
from quorumsql.contract.model import CandidateCount


@dataclass(frozen=True, slots=True)
class Run:
    """One run, under the ``name`` that comparisons use; its ``label`` is unique in its section."""

    name: str
    manifest: RunManifest
    records: tuple[QuestionRecord, ...]
    summary: Summary
    label: str = ""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """All runs over one benchmark: the baseline, then K ascending."""

    title: str
    runs: tuple[Run, ...]
    comparisons: tuple[PairedComparison, ...]

    def label(self, name: str) -> str:
        """The label of the run with this name."""
        return next((run.label for run in self.runs if run.name == name), name)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks that a reader must know before comparing these runs."""
        notes = []
        for run in self.runs:
            asked, wanted = len(run.records), len(run.manifest.question_ids)
            if asked < wanted:
                notes.append(f"{run.label} is unfinished: {asked} of {wanted} questions.")
        if len({_questions(run.manifest) for run in self.runs}) > 1:
            notes.append(
                "These runs do not cover the same questions: only the paired comparisons, which "
                "use the questions that two runs share, are fair."
            )
        untimed = [run.label for run in self.runs if not run.manifest.is_timed]
        if untimed:
            notes.append(
                f"No speed is shown for {', '.join(untimed)}: samples were kept in a file, and "
                f"those read from it took no time."
            )
        return tuple(notes)


def build_sections(
    runs: Sequence[Run], comparisons: Iterable[PairedComparison]
) -> tuple[ReportSection, ...]:
    """The sections in the order in which their benchmarks first appear."""
    groups: dict[tuple[str, bool], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.manifest.benchmark, run.manifest.evidence), []).append(run)
    compared = tuple(comparisons)
    sections = []
    for (benchmark, evidence), group in groups.items():
        names = {run.name for run in group}
        sections.append(
            ReportSection(
                f"{benchmark}, with evidence" if evidence else benchmark,
                _label_runs(group),
                tuple(pair for pair in compared if {pair.left, pair.right} <= names),
            )
        )
    return tuple(sections)


def _place_run(run: Run) -> tuple[bool, bool, CandidateCount]:
    manifest = run.manifest
    return not manifest.baseline, manifest.k == "adaptive", manifest.k


def _label_runs(group: Sequence[Run]) -> tuple[Run, ...]:
    """The runs in order, named by their variant and the settings that the first run has not."""
    ordered = sorted(group, key=_place_run)
    base = ordered[0].manifest.configuration
    names = [
        ", ".join((run.manifest.variant, *list_changes(base, run.manifest.configuration)))
        for run in ordered
    ]
    counts = Counter(names)
    return tuple(
        replace(run, label=name if counts[name] == 1 else f"{name} ({run.name})")
        for run, name in zip(ordered, names, strict=True)
    )


def list_changes(base: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The settings of ``other`` that differ from those of ``base``, as ``section.key: value``."""
    return [
        f"{key}: {'not set' if value is None else json.dumps(value, ensure_ascii=False)}"
        for key, _, value in find_differences(base, other)
    ]


def _questions(manifest: RunManifest) -> tuple[str, frozenset[str]]:
    return manifest.benchmark_sha256, frozenset(manifest.question_ids)
