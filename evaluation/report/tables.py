"""The report's tables as values; Markdown renders them elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from evaluation.metrics.figures import (
    Estimate,
    PairedComparison,
    Percentiles,
    RepairFigures,
    Summary,
)
from evaluation.metrics.metrics import MODEL_STAGES
from evaluation.report.cells import (
    NONE,
    Cell,
    show_difference,
    show_estimate,
    show_ms,
    show_p_value,
    show_percent,
    show_points,
)
from evaluation.report.sections import LabelledRun, Run, Section

_T = TypeVar("_T")
_PAIRED = ("shared", "difference", "gained", "lost", "both right", "neither", "McNemar p")


@dataclass(frozen=True, slots=True)
class Table:
    """The first column names the row; all others are figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def build_accuracy_table(section: Section) -> Table:
    """Accuracy, with that of samples, of the oracle and by other metrics."""
    # The best run is marked among those over the most questions: fewer may be easier ones.
    most = max(run.run.summary.counted for run in section.runs)
    summaries = [run.run.summary for run in section.runs]
    best = max(summary.accuracy.value for summary in summaries if summary.counted == most)
    several = len(section.runs) > 1
    rows = []
    for run in section.runs:
        summary = run.run.summary
        answer = show_estimate(summary.accuracy)
        rows.append(
            (
                Cell(run.label),
                Cell(
                    answer.text,
                    answer.detail,
                    best=several and (summary.counted, summary.accuracy.value) == (most, best),
                ),
                Cell(NONE) if summary.chosen == summary.accuracy else show_estimate(summary.chosen),
                show_estimate(summary.first),
                show_estimate(summary.mean_sample),
                show_estimate(summary.majority),
                show_estimate(summary.oracle),
                Cell(show_points(summary.oracle.value - summary.chosen.value)),
                show_estimate(summary.executes),
                show_estimate(summary.bird_ex),
                show_estimate(summary.soft_f1),
            )
        )
    columns = (
        "run",
        "accuracy",
        "with clarify counted",
        "first sample",
        "random sample",
        "majority",
        "oracle",
        "oracle gap",
        "executes",
        "BIRD EX",
        "soft F1",
    )
    return _drop_empty(Table("Accuracy", columns, tuple(rows)))


def build_outcome_table(section: Section) -> Table:
    """The numbers of questions by outcome."""
    names = list(
        dict.fromkeys(
            (
                "answered",
                "refused",
                "clarify",
                "failed",
                "error",
                *(name for run in section.runs for name in run.run.summary.outcomes),
            )
        )
    )
    rows = tuple(
        (
            Cell(run.label),
            Cell(f"{run.run.summary.questions:,}"),
            Cell(f"{run.run.summary.counted:,}"),
            Cell(f"{len(run.run.summary.gold_failed):,}"),
            Cell(f"{run.run.summary.gold_empty:,}"),
            *(Cell(f"{run.run.summary.outcomes.get(name, 0):,}") for name in names),
        )
        for run in section.runs
    )
    columns = ("run", "questions", "counted", "gold failing", "gold empty", *names)
    return Table("Questions and outcomes", columns, rows)


def build_speed_table(section: Section) -> Table:
    """Time and tokens; no speed if samples were read from a file."""
    rows = tuple(
        (
            Cell(run.label),
            _show_if_timed(run, f"{run.run.summary.seconds.p50:.2f}"),
            _show_if_timed(run, f"{run.run.summary.seconds.p95:.2f}"),
            Cell(show_ms(run.run.summary.own_ms.p50)),
            Cell(show_ms(run.run.summary.own_ms.p95)),
            _show_if_timed(run, f"{run.run.summary.questions_per_minute:,.1f}"),
            Cell(f"{run.run.manifest.concurrency}"),
            Cell(f"{run.run.summary.prompt_tokens:,.0f}"),
            Cell(f"{run.run.summary.completion_tokens:,.0f}"),
        )
        for run in section.runs
    )
    columns = (
        "run",
        "s / question, p50",
        "p95",
        "without the model, p50",
        "p95",
        "questions / min",
        "in flight",
        "prompt tokens",
        "completion tokens",
    )
    return Table("Time and tokens per question", columns, rows)


def build_confidence_table(section: Section) -> Table | None:
    """The quality of each run's confidence."""
    rows = []
    for system in section.systems:
        figures = system.run.summary.confidence
        if figures is None:
            continue
        at = figures.at_threshold
        rows.append(
            (
                Cell(system.label),
                Cell(f"{figures.calibration_error:.3f}"),
                Cell(f"{figures.brier:.3f}"),
                Cell(f"{figures.auroc:.3f}"),
                Cell(f"{at.threshold:.2f}"),
                Cell(show_percent(at.coverage)),
                show_estimate(at.accuracy),
            )
        )
    columns = (
        "run",
        "calibration error",
        "Brier",
        "AUROC",
        "threshold",
        "answered above it",
        "accuracy of those",
    )
    return Table("Confidence", columns, tuple(rows)) if rows else None


def build_repair_table(section: Section) -> Table | None:
    """The results of repairs: by run and method, then by rule and class of error.

    A repair by several rules counts for each of them.
    """
    rows = tuple(
        (
            Cell(f"{system.label}: {kind}"),
            Cell(f"{figures.tried:,}"),
            Cell(f"{figures.fixed:,}"),
            Cell(f"{figures.corrected:,}"),
            Cell(f"{figures.broken:,}"),
        )
        for system in section.systems
        for kind, figures in _list_repairs(system.run.summary)
        if figures.tried
    )
    columns = ("repair", "tried", "executes after", "right after", "right before, wrong after")
    return Table("Repairs", columns, rows) if rows else None


def _list_repairs(figures: Summary) -> Iterator[tuple[str, RepairFigures]]:
    yield from figures.repairs.items()
    for name, rule in figures.repair_rules.items():
        yield f"rule {name}", rule
    for name, error in figures.repair_classes.items():
        yield f"error {name}", error


def build_breakdown_tables(section: Section) -> tuple[Table, ...]:
    """Accuracy by difficulty, database and length of the question."""
    shown = compared_runs(section)
    tables = []
    for title, pick in BREAKDOWNS:
        names = list(dict.fromkeys(name for run in shown for name in pick(run.run)))
        if names:
            rows = tuple(
                (
                    Cell(name or "not given"),
                    Cell(f"{max(_count(pick(run.run).get(name)) for run in shown):,}"),
                    *(show_estimate(pick(run.run).get(name)) for run in shown),
                )
                for name in names
            )
            columns = (title, "questions", *(run.label for run in shown))
            tables.append(Table(f"Accuracy by {title}", columns, rows))
    return tuple(tables)


def build_stage_table(section: Section) -> Table | None:
    """The time of each stage, p50 and p95."""
    shown = [
        (system, timed_stages(system, system.run.summary.stages_ms)) for system in section.systems
    ]
    runs = [(system, stages) for system, stages in shown if stages]
    names = list(dict.fromkeys(name for _, stages in runs for name in stages))
    if not names:
        return None
    rows = tuple(
        (Cell(name), *(_show_percentiles(stages.get(name)) for _, stages in runs)) for name in names
    )
    return Table("Stages, p50 (p95)", ("stage", *(system.label for system, _ in runs)), rows)


def build_detail_tables(section: Section) -> tuple[Table, ...]:
    """The figures of charts, and less common ones."""
    tables = (
        *build_breakdown_tables(section),
        build_confidence_table(section),
        build_repair_table(section),
        build_stage_table(section),
    )
    return tuple(table for table in tables if table is not None)


BREAKDOWNS: tuple[tuple[str, Callable[[Run], Mapping[str, Estimate]]], ...] = (
    ("difficulty", lambda run: run.summary.by_difficulty),
    ("database", lambda run: run.summary.by_database),
    ("words in the question", lambda run: run.summary.by_length),
)


def compared_runs(section: Section) -> tuple[LabelledRun, ...]:
    """The baseline, if there is one, and the featured run."""
    featured = section.featured
    if section.baseline is None or section.baseline is featured:
        return (featured,)
    return (section.baseline, featured)


def timed_stages(run: LabelledRun, stages: Mapping[str, _T]) -> dict[str, _T]:
    """The stages with meaningful times: without the model's if samples came from a file."""
    untimed = frozenset() if run.run.manifest.is_timed else MODEL_STAGES
    return {name: value for name, value in stages.items() if name not in untimed}


def _show_if_timed(run: LabelledRun, text: str) -> Cell:
    return Cell(text if run.run.manifest.is_timed else NONE)


def _show_percentiles(value: Percentiles | None) -> Cell:
    return Cell(show_ms(value.p50), show_ms(value.p95)) if value else Cell(NONE)


def _count(estimate: Estimate | None) -> int:
    return estimate.count if estimate else 0


def _drop_empty(table: Table) -> Table:
    """Drops the columns for which no run has a figure."""
    kept = [
        at
        for at in range(len(table.columns))
        if any(row[at].text != NONE for row in table.rows) or at == 0
    ]
    return Table(
        table.title,
        tuple(table.columns[at] for at in kept),
        tuple(tuple(row[at] for at in kept) for row in table.rows),
    )


def build_selection_table(section: Section) -> Table | None:
    """Compares the vote with the better of first sample and majority, for each run with a vote."""
    rows = tuple(
        (
            Cell(system.label),
            show_estimate(system.run.summary.first),
            show_estimate(system.run.summary.majority),
            Cell(found.left),
            *_show_pair(found),
        )
        for system in section.systems
        if (found := system.run.summary.selection) is not None
    )
    columns = ("run", "first sample", "majority", "better of both", *_PAIRED)
    return Table("The vote against first sample and majority", columns, rows) if rows else None


def build_ablation_table(section: Section) -> Table | None:
    """The difference of accuracy with each stage switched off."""
    full, pairs = section.full, section.ablations
    if full is None or not pairs:
        return None
    rows = tuple((Cell(section.label(pair.right)), *_show_pair(pair)) for pair in pairs)
    title = f"Each stage switched off, against {full.label}"
    return Table(title, ("run", *_PAIRED), rows)


def build_comparison_table(section: Section) -> Table | None:
    """The comparisons of runs on shared questions that the ablation table does not show."""
    shown = {(ablation.left, ablation.right) for ablation in section.ablations}
    rows = tuple(
        (
            Cell(f"{section.label(comparison.right)} against {section.label(comparison.left)}"),
            *_show_pair(comparison),
        )
        for comparison in section.comparisons
        if (comparison.left, comparison.right) not in shown
    )
    return Table("Run against run", ("runs", *_PAIRED), rows) if rows else None


def build_paired_tables(section: Section) -> tuple[Table, ...]:
    """All of these tables that there are figures for."""
    tables = (
        build_selection_table(section),
        build_ablation_table(section),
        build_comparison_table(section),
    )
    return tuple(table for table in tables if table is not None)


def list_pairs(section: Section) -> tuple[PairedComparison, ...]:
    """Every pair of runs that a table shows, each once."""
    pairs = {(pair.left, pair.right): pair for pair in (*section.ablations, *section.comparisons)}
    return tuple(pairs.values())


def _show_pair(pair: PairedComparison) -> tuple[Cell, ...]:
    return (
        Cell(f"{pair.shared:,}"),
        show_difference(pair.difference),
        Cell(f"{len(pair.gained):,}"),
        Cell(f"{len(pair.lost):,}"),
        Cell(f"{pair.both:,}"),
        Cell(f"{pair.neither:,}"),
        Cell(show_p_value(pair.p_value)),
    )
