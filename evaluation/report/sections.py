"""Which runs belong together: a section for each benchmark, with and without evidence apart."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluation.metrics.figures import PairedComparison
from evaluation.metrics.pairing import compare_runs
from evaluation.report.run import Run
from evaluation.runs.manifest import Manifest
from evaluation.runs.variants import FULL


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """A run under the ``label`` that tells it apart in its section; ``number`` in the report."""

    run: Run
    label: str
    number: int

    @property
    def is_baseline(self) -> bool:
        """True when another system than the pipeline answered."""
        return bool(self.run.manifest.baseline)

    @property
    def is_ablated(self) -> bool:
        """True when one stage was switched off to see what it is worth."""
        return self.run.manifest.is_ablated


@dataclass(frozen=True, slots=True)
class Problem:
    """What kept questions from being counted or answered.

    ``questions`` are ids, each with the number of the first run it happened in; ``runs`` labels.
    """

    kind: str
    reason: str
    questions: tuple[tuple[str, int], ...]
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
        """The runs that are no ablations; all of them when there are only ablations."""
        return tuple(run for run in self.runs if not run.is_ablated) or self.runs

    @property
    def baseline(self) -> LabelledRun | None:
        """The run that the pipeline is held against."""
        return next((run for run in self.runs if run.is_baseline), None)

    @property
    def featured(self) -> LabelledRun:
        """The most accurate run of the pipeline among those over the most questions.

        Of equals the one with fewer candidates. Where figures of one run are shown, they are this
        one's.
        """
        own = [system for system in self.systems if not system.is_baseline] or list(self.systems)
        summaries = [(each, each.run.summary) for each in own]
        return max(summaries, key=lambda pair: (pair[1].counted, pair[1].accuracy.value))[0]

    @property
    def curve(self) -> tuple[LabelledRun, ...]:
        """Runs of the pipeline that differ in K alone: as many as there are, K ascending.

        One for each fixed K, the first where there are several.
        """
        groups: dict[str, dict[int, LabelledRun]] = {}
        for each in self._fixed:
            by_k = groups.setdefault(_describe_but_k(each.run.manifest), {})
            by_k.setdefault(each.run.manifest.k, each)
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
        """What ablations are held against: every stage on, the same K."""
        counts = {each.run.manifest.k for each in self.ablated}
        candidates = [
            run
            for run in self.runs
            if not run.is_baseline and not run.is_ablated and run.run.manifest.k in counts
        ]
        named = (candidate for candidate in candidates if candidate.run.manifest.variant == FULL)
        return next(named, candidates[0] if candidates and self.ablated else None)

    @property
    def ablations(self) -> tuple[PairedComparison, ...]:
        """Each run with a stage switched off against the one with every stage, dearest first."""
        full = self.full
        if full is None:
            return ()
        pairs = (
            compare_runs(full.run.name, full.run.records, each.run.name, each.run.records)
            for each in self.ablated
        )
        found = (pair for pair in pairs if pair.shared)
        return tuple(sorted(found, key=lambda each: each.difference.value))

    def label(self, name: str) -> str:
        """The label of the run with this name."""
        return next((run.label for run in self.runs if run.run.name == name), name)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know before comparing these runs."""
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
                "take the questions that two runs share, are like for like."
            )
        curve = self.curve
        if len(curve) > 1:
            shown = {each.run.manifest.k for each in curve}
            notes += [
                f"{each.label} is not in the curve over K: it differs from {curve[0].label} in "
                f"more than K."
                for each in self._fixed
                if each.run.manifest.k not in shown
            ]
        untimed = [run.label for run in self.runs if not run.run.manifest.is_timed]
        if untimed:
            notes.append(
                f"No speed is shown for {', '.join(untimed)}: samples were kept in a file, and "
                f"what stood there took no time."
            )
        return tuple(notes)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Every question that could not be counted, or whose run raised, by reason."""
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
    groups: dict[tuple[str, bool], list[tuple[int, Run]]] = {}
    for number, run in enumerate(runs):
        key = (run.manifest.benchmark, run.manifest.evidence)
        groups.setdefault(key, []).append((number, run))
    compared = tuple(comparisons)
    both_ways = {name for name, _ in groups if (name, True) in groups and (name, False) in groups}
    sections = []
    for at, ((benchmark, evidence), group) in enumerate(groups.items()):
        title = benchmark
        if evidence:
            title = f"{benchmark}, with evidence"
        elif benchmark in both_ways:
            title = f"{benchmark}, without evidence"
        names = {run.name for _, run in group}
        sections.append(
            Section(
                title,
                f"benchmark-{at}",
                _label_runs(group),
                tuple(each for each in compared if {each.left, each.right} <= names),
            )
        )
    return tuple(sections)


def _build_problem(kind: str, reason: str, where: Sequence[tuple[str, LabelledRun]]) -> Problem:
    first: dict[str, int] = {}
    for question, run in where:
        first.setdefault(question, run.number)
    labels = dict.fromkeys(run.label for _, run in where)
    return Problem(kind, reason, tuple(first.items()), tuple(labels))


def _label_runs(group: Sequence[tuple[int, Run]]) -> tuple[LabelledRun, ...]:
    variants = Counter(run.manifest.variant for _, run in group)
    labelled = [
        LabelledRun(
            run,
            run.manifest.variant
            if variants[run.manifest.variant] == 1
            else f"{run.manifest.variant} ({run.name})",
            number,
        )
        for number, run in group
    ]
    return tuple(sorted(labelled, key=lambda each: (_rank(each), each.run.manifest.k, each.number)))


def _rank(run: LabelledRun) -> int:
    return 0 if run.is_baseline else 2 if run.is_ablated else 1


def _describe_but_k(manifest: Manifest) -> str:
    """All that makes the run but K, its name, and what changes times alone."""
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
