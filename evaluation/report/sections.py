"""Runs with their figures, in sections: one for each benchmark, with and without evidence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evaluation.metrics.figures import PairedComparison, Summary
from evaluation.runs.manifest import AnswerManifest
from evaluation.runs.records import QuestionRecord


@dataclass(frozen=True, slots=True)
class Run:
    """One run, under the ``name`` that comparisons use; its ``label`` is unique in its section."""

    name: str
    manifest: AnswerManifest
    records: tuple[QuestionRecord, ...]
    summary: Summary
    label: str = ""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """All runs over one benchmark: the baseline, then K ascending, then ablations."""

    title: str
    anchor: str
    runs: tuple[Run, ...]
    comparisons: tuple[PairedComparison, ...]

    @property
    def systems(self) -> tuple[Run, ...]:
        """The runs that are not ablations; all of them if there are only ablations."""
        return tuple(run for run in self.runs if not run.manifest.is_ablated) or self.runs

    @property
    def baseline(self) -> Run | None:
        """The run with which the pipeline is compared."""
        return next((run for run in self.runs if run.manifest.baseline), None)

    @property
    def featured(self) -> Run:
        """The most accurate run of the pipeline among those over the most questions.

        Among equals, the one with fewer candidates. It is shown where figures are for one run only.
        """
        own = [run for run in self.systems if not run.manifest.baseline] or list(self.systems)
        return max(own, key=lambda run: (run.summary.counted, run.summary.accuracy.value))

    @property
    def curve(self) -> tuple[Run, ...]:
        """The largest group of pipeline runs that differ only in K, K ascending.

        It has one run for each fixed K, the first if there are several.
        """
        groups: dict[str, dict[int, Run]] = {}
        for run in self.runs:
            if run.manifest.k and not run.manifest.baseline and not run.manifest.is_ablated:
                by_k = groups.setdefault(_describe_but_k(run.manifest), {})
                by_k.setdefault(run.manifest.k, run)
        largest = max(groups.values(), key=len, default={})
        return tuple(largest[k] for k in sorted(largest))

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
    for at, ((benchmark, evidence), group) in enumerate(groups.items()):
        names = {run.name for run in group}
        sections.append(
            ReportSection(
                f"{benchmark}, with evidence" if evidence else benchmark,
                f"benchmark-{at}",
                _label_runs(group),
                tuple(pair for pair in compared if {pair.left, pair.right} <= names),
            )
        )
    return tuple(sections)


def _label_runs(group: Sequence[Run]) -> tuple[Run, ...]:
    variants = Counter(run.manifest.variant for run in group)
    labelled = [
        replace(run, label=name if variants[name] == 1 else f"{name} ({run.name})")
        for run in group
        for name in (run.manifest.variant,)
    ]
    return tuple(sorted(labelled, key=lambda run: (_rank(run.manifest), run.manifest.k)))


def _rank(manifest: AnswerManifest) -> int:
    return 0 if manifest.baseline else 2 if manifest.is_ablated else 1


def _describe_but_k(manifest: AnswerManifest) -> str:
    """Everything that determines the run's answers except K, as text."""
    described = manifest.model_dump(
        mode="json",
        include={"benchmark_sha256", "question_ids", "seed", "service", "revision"},
    )
    described["configuration"] = {
        name: {key: value for key, value in section.items() if (name, key) != ("sampling", "k")}
        if isinstance(section, dict)
        else section
        for name, section in manifest.configuration.items()
    }
    return json.dumps(described, sort_keys=True)


def _questions(manifest: AnswerManifest) -> tuple[str, frozenset[str]]:
    return manifest.benchmark_sha256, frozenset(manifest.question_ids)
