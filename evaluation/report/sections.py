"""Runs with their figures, in sections: one for each benchmark, with and without evidence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluation.metrics.figures import PairedComparison, Summary
from evaluation.metrics.pairing import compare_runs
from evaluation.runs.manifest import Manifest
from evaluation.runs.records import QuestionRecord
from evaluation.runs.variants import FULL


@dataclass(frozen=True, slots=True)
class Run:
    """One run, under the ``name`` that comparisons use."""

    name: str
    manifest: Manifest
    records: tuple[QuestionRecord, ...]
    summary: Summary


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """A run with a ``label`` that is unique in its section."""

    run: Run
    label: str

    @property
    def is_baseline(self) -> bool:
        """True when another system than the pipeline answered."""
        return bool(self.run.manifest.baseline)

    @property
    def is_ablated(self) -> bool:
        """True if one stage was switched off to measure its effect."""
        return self.run.manifest.is_ablated


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason why questions were not counted or not answered; ``runs`` are labels."""

    kind: str
    reason: str
    questions: tuple[str, ...]
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """All runs over one benchmark: the baseline, then K ascending, then ablations."""

    title: str
    anchor: str
    runs: tuple[LabelledRun, ...]
    comparisons: tuple[PairedComparison, ...]

    @property
    def systems(self) -> tuple[LabelledRun, ...]:
        """The runs that are not ablations; all of them if there are only ablations."""
        return tuple(run for run in self.runs if not run.is_ablated) or self.runs

    @property
    def baseline(self) -> LabelledRun | None:
        """The run with which the pipeline is compared."""
        return next((run for run in self.runs if run.is_baseline), None)

    @property
    def featured(self) -> LabelledRun:
        """The most accurate run of the pipeline among those over the most questions.

        Among equals, the one with fewer candidates. It is shown where figures are for one run only.
        """
        own = [system for system in self.systems if not system.is_baseline] or list(self.systems)
        summaries = [(run, run.run.summary) for run in own]
        return max(summaries, key=lambda pair: (pair[1].counted, pair[1].accuracy.value))[0]

    @property
    def curve(self) -> tuple[LabelledRun, ...]:
        """The largest group of pipeline runs that differ only in K, K ascending.

        It has one run for each fixed K, the first if there are several.
        """
        groups: dict[str, dict[int, LabelledRun]] = {}
        for run in self._fixed:
            by_k = groups.setdefault(_describe_but_k(run.run.manifest), {})
            by_k.setdefault(run.run.manifest.k, run)
        largest = max(groups.values(), key=len, default={})
        return tuple(largest[k] for k in sorted(largest))

    @property
    def _fixed(self) -> tuple[LabelledRun, ...]:
        """The runs of the pipeline with a fixed K and no stage switched off."""
        return tuple(
            run
            for run in self.runs
            if run.run.manifest.k and not run.is_baseline and not run.is_ablated
        )

    @property
    def ablated(self) -> tuple[LabelledRun, ...]:
        """The runs with a stage switched off."""
        return tuple(run for run in self.runs if run.is_ablated)

    @property
    def full(self) -> LabelledRun | None:
        """The run with which ablations are compared: every stage on, the same K."""
        counts = {run.run.manifest.k for run in self.ablated}
        candidates = [
            run
            for run in self.runs
            if not run.is_baseline and not run.is_ablated and run.run.manifest.k in counts
        ]
        named = (candidate for candidate in candidates if candidate.run.manifest.variant == FULL)
        return next(named, candidates[0] if candidates and self.ablated else None)

    @property
    def ablations(self) -> tuple[PairedComparison, ...]:
        """Each run with a stage switched off against the full one, the largest loss first."""
        full = self.full
        if full is None:
            return ()
        pairs = (
            compare_runs(full.run.name, full.run.records, run.run.name, run.run.records)
            for run in self.ablated
        )
        found = (pair for pair in pairs if pair.shared)
        return tuple(sorted(found, key=lambda pair: pair.difference.value))

    def label(self, name: str) -> str:
        """The label of the run with this name."""
        return next((run.label for run in self.runs if run.run.name == name), name)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks that a reader must know before comparing these runs."""
        first = self.runs[0].run.manifest
        notes = []
        for run in self.runs:
            manifest = run.run.manifest
            asked, wanted = len(run.run.records), len(manifest.question_ids)
            if asked < wanted:
                notes.append(f"{run.label} is unfinished: {asked} of {wanted} questions.")
        if any(_questions(run.run.manifest) != _questions(first) for run in self.runs):
            notes.append(
                "These runs do not cover the same questions: only the paired comparisons, which "
                "use the questions that two runs share, are fair."
            )
        curve = self.curve
        if len(curve) > 1:
            shown = {run.run.manifest.k for run in curve}
            notes += [
                f"{run.label} is not in the curve over K: it differs from {curve[0].label} in "
                f"more than K."
                for run in self._fixed
                if run.run.manifest.k not in shown
            ]
        untimed = [run.label for run in self.runs if not run.run.manifest.is_timed]
        if untimed:
            notes.append(
                f"No speed is shown for {', '.join(untimed)}: samples were kept in a file, and "
                f"those read from it took no time."
            )
        return tuple(notes)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Every question that was not counted or raised an error, by reason."""
        found: dict[tuple[str, str], list[tuple[str, LabelledRun]]] = {}
        for run in self.runs:
            summary = run.run.summary
            for kind, pairs in (("not counted", summary.gold_failed), ("error", summary.errors)):
                for question, reason in pairs:
                    found.setdefault((kind, reason), []).append((question, run))
        return tuple(_build_problem(*key, where) for key, where in found.items())


def build_sections(
    runs: Sequence[Run], comparisons: Iterable[PairedComparison]
) -> tuple[Section, ...]:
    """The sections in the order in which their benchmarks first appear."""
    groups: dict[tuple[str, bool], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.manifest.benchmark, run.manifest.evidence), []).append(run)
    compared = tuple(comparisons)
    both_ways = {name for name, _ in groups if (name, True) in groups and (name, False) in groups}
    sections = []
    for at, ((benchmark, evidence), group) in enumerate(groups.items()):
        title = benchmark
        if evidence:
            title = f"{benchmark}, with evidence"
        elif benchmark in both_ways:
            title = f"{benchmark}, without evidence"
        names = {run.name for run in group}
        sections.append(
            Section(
                title,
                f"benchmark-{at}",
                _label_runs(group),
                tuple(pair for pair in compared if {pair.left, pair.right} <= names),
            )
        )
    return tuple(sections)


def _build_problem(kind: str, reason: str, where: Sequence[tuple[str, LabelledRun]]) -> Problem:
    questions = dict.fromkeys(question for question, _ in where)
    labels = dict.fromkeys(run.label for _, run in where)
    return Problem(kind, reason, tuple(questions), tuple(labels))


def _label_runs(group: Sequence[Run]) -> tuple[LabelledRun, ...]:
    variants = Counter(run.manifest.variant for run in group)
    labelled = [
        LabelledRun(
            run,
            run.manifest.variant
            if variants[run.manifest.variant] == 1
            else f"{run.manifest.variant} ({run.name})",
        )
        for run in group
    ]
    return tuple(sorted(labelled, key=lambda run: (_rank(run), run.run.manifest.k)))


def _rank(run: LabelledRun) -> int:
    return 0 if run.is_baseline else 2 if run.is_ablated else 1


def _describe_but_k(manifest: Manifest) -> str:
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


def _questions(manifest: Manifest) -> tuple[str, frozenset[str]]:
    return manifest.benchmark_sha256, frozenset(manifest.question_ids)
