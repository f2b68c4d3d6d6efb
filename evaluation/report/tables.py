"""The report's tables as values: figures as text, which Markdown and the command line print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from evaluation.metrics.figures import (
    ConfidenceFigures,
    Estimate,
    Percentiles,
    RepairFigures,
    Summary,
)
from evaluation.metrics.metrics import MODEL_STAGES
from evaluation.report.sections import ReportSection, Run

NONE = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_Figures = TypeVar("_Figures")
_SUREST = (0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True)
class ReportTable:
    """The first column names the row; all others are figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def show_percent(share: float) -> str:
    """A share as a percentage.

    >>> show_percent(0.615).split()
    ['61.5', '%']
    """
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def show_points(difference: float) -> str:
    """A difference of shares in percentage points, with its sign.

    >>> show_points(0.03), show_points(0.0)
    ('+3.0', '0.0')
    """
    # Adding zero removes the sign of a negative zero.
    points = round(100 * difference, 1) + 0.0
    return f"{points:{'+' if points else ''}.1f}".replace("-", _MINUS)


def show_estimate(estimate: Estimate | None) -> str:
    """A share with its interval, both in percent; a dash without any question."""
    if estimate is None or not estimate.count:
        return NONE
    interval = f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}"
    return f"{show_percent(estimate.value)} ({interval})"


def show_p_value(p_value: float) -> str:
    """A p-value to two digits.

    >>> show_p_value(0.0123), show_p_value(0.00001), show_p_value(1.0)
    ('0.012', '< 0.001', '1.00')
    """
    if p_value < 0.001:
        return "< 0.001"
    return f"{p_value:.3f}" if p_value < 0.1 else f"{p_value:.2f}"


def show_ms(value: Percentiles | None) -> str:
    """The median and, in brackets, the 95th percentile of milliseconds; a dash without any.

    >>> show_ms(Percentiles(3.14159, 842.0))
    '3.1 ms (842 ms)'
    """
    if value is None:
        return NONE
    p50, p95 = (f"{ms:.1f} ms" if ms < 10 else f"{ms:,.0f} ms" for ms in (value.p50, value.p95))
    return f"{p50} ({p95})"


def build_tables(section: ReportSection) -> tuple[ReportTable, ...]:
    """All tables that there are figures for."""
    tables = (
        *build_main_tables(section),
        _build_breakdown_table(section, "difficulty", lambda run: run.summary.by_difficulty),
        _build_breakdown_table(section, "database", lambda run: run.summary.by_database),
        _build_confidence_table(section),
        _build_repair_table(section),
        _build_stage_table(section),
    )
    return tuple(table for table in tables if table.rows)


def build_main_tables(section: ReportSection) -> tuple[ReportTable, ...]:
    """Accuracy, the comparison of runs, outcomes, and speed."""
    tables = (
        _build_accuracy_table(section),
        _build_comparison_table(section),
        _build_outcome_table(section),
        _build_speed_table(section),
    )
    return tuple(table for table in tables if table.rows)


def build_table(
    title: str,
    first: str,
    rows: Iterable[tuple[str, _Figures]],
    columns: Mapping[str, Callable[[_Figures], str]],
) -> ReportTable:
    """A row for each name with its figures; a column for each way to show them.

    >>> build_table("T", "run", [("a", 1)], {"n": str, "n + 1": lambda n: str(n + 1)}).rows
    (('a', '1', '2'),)
    """
    shown = ((name, *(show(figures) for show in columns.values())) for name, figures in rows)
    return ReportTable(title, (first, *columns), tuple(shown))


def _build_accuracy_table(section: ReportSection) -> ReportTable:
    """Accuracy, with that of samples and of the oracle."""
    columns: dict[str, Callable[[Summary], str]] = {
        "accuracy": lambda summary: show_estimate(summary.accuracy),
        "with clarify counted": lambda summary: show_estimate(summary.chosen),
        "the same, judged": lambda summary: show_estimate(summary.judged),
        "first sample": lambda summary: show_estimate(summary.first),
        "majority": lambda summary: show_estimate(summary.majority),
        "oracle": lambda summary: show_estimate(summary.oracle),
        "executes": lambda summary: show_estimate(summary.executes),
    }
    return build_table("Accuracy", "run", _list_summaries(section), columns)


def _list_summaries(section: ReportSection) -> Iterator[tuple[str, Summary]]:
    yield from ((run.label, run.summary) for run in section.runs)


def _build_outcome_table(section: ReportSection) -> ReportTable:
    """The numbers of questions by outcome."""

    def count(outcome: str) -> Callable[[Summary], str]:
        return lambda summary: f"{summary.outcomes.get(outcome, 0):,}"

    columns: dict[str, Callable[[Summary], str]] = {
        "questions": lambda summary: f"{summary.questions:,}",
        "counted": lambda summary: f"{summary.counted:,}",
        "gold failing": lambda summary: f"{len(summary.gold_failed):,}",
        "gold empty": lambda summary: f"{summary.gold_empty:,}",
        **{name: count(name) for run in section.runs for name in run.summary.outcomes},
    }
    return build_table("Questions and outcomes", "run", _list_summaries(section), columns)


def _build_speed_table(section: ReportSection) -> ReportTable:
    """Time and tokens; no speed if samples were read from a file."""
    columns: dict[str, Callable[[Run], str]] = {
        "s / question": lambda run: _show_speed(run, "{0.seconds.p50:.2f} ({0.seconds.p95:.2f})"),
        "questions / min": lambda run: _show_speed(run, "{0.questions_per_minute:,.1f}"),
        "without the model": lambda run: show_ms(run.summary.own_ms),
        "in flight": lambda run: f"{run.manifest.concurrency}",
        "prompt tokens": lambda run: f"{run.summary.prompt_tokens:,.0f}",
        "completion tokens": lambda run: f"{run.summary.completion_tokens:,.0f}",
    }
    rows = [(run.label, run) for run in section.runs]
    return build_table("Time, p50 (p95), and tokens per question", "run", rows, columns)


def _show_speed(run: Run, form: str) -> str:
    return form.format(run.summary) if run.manifest.is_timed else NONE


def _build_confidence_table(section: ReportSection) -> ReportTable:
    """The quality of each run's confidence."""

    def show_surest(share: float) -> Callable[[ConfidenceFigures], str]:
        return lambda figures: _show_surest(figures, share)

    columns: dict[str, Callable[[ConfidenceFigures], str]] = {
        "calibration error": lambda figures: f"{figures.calibration_error:.3f}",
        "by chance": lambda figures: f"{figures.chance_error:.3f}",
        "Brier": lambda figures: f"{figures.brier:.3f}",
        "AUROC": lambda figures: f"{figures.auroc:.3f}",
        "threshold": lambda figures: f"{figures.at_threshold.threshold:.2f}",
        "answered above it": lambda figures: show_percent(figures.at_threshold.coverage),
        "accuracy of those": lambda figures: show_estimate(figures.at_threshold.accuracy),
        "judged": lambda figures: show_estimate(figures.at_threshold.judged),
        **{f"of the surest {share:.0%}": show_surest(share) for share in _SUREST},
    }
    rows = [(name, found) for name, each in _list_summaries(section) if (found := each.confidence)]
    return build_table("Confidence", "run", rows, columns)


def _show_surest(figures: ConfidenceFigures, share: float) -> str:
    """The accuracy of the most confident answers to that share of all questions."""
    risks = (risk for coverage, risk in figures.risk_coverage if coverage >= share)
    return next((show_percent(1 - risk) for risk in risks), NONE)


def _build_repair_table(section: ReportSection) -> ReportTable:
    """The results of repairs: by run and method, then by rule and class of error.

    A repair by several rules counts for each of them.
    """
    columns: dict[str, Callable[[RepairFigures], str]] = {
        "tried": lambda figures: f"{figures.tried:,}",
        "executes after": lambda figures: f"{figures.fixed:,}",
        "right after": lambda figures: f"{figures.corrected:,}",
        "right before, wrong after": lambda figures: f"{figures.broken:,}",
    }
    rows = [
        (f"{label}: {kind}{name}", figures)
        for label, summary in _list_summaries(section)
        for kind, found in (
            ("", summary.repairs),
            ("rule ", summary.repair_rules),
            ("error ", summary.repair_classes),
        )
        for name, figures in found.items()
    ]
    return build_table("Repairs", "repair", rows, columns)


def _build_breakdown_table(
    section: ReportSection, title: str, pick: Callable[[Run], Mapping[str, Estimate]]
) -> ReportTable:
    """Accuracy by difficulty or database."""
    names = dict.fromkeys(name for run in section.runs for name in pick(run))
    rows = tuple(
        (
            name or "not given",
            f"{max(found.count for run in section.runs if (found := pick(run).get(name))):,}",
            *(show_estimate(pick(run).get(name)) for run in section.runs),
        )
        for name in names
    )
    columns = (title, "questions", *(run.label for run in section.runs))
    return ReportTable(f"Accuracy by {title}", columns, rows)


def _build_stage_table(section: ReportSection) -> ReportTable:
    """The time of each stage; without the model's if samples came from a file."""
    shown = {
        run.label: {
            name: times
            for name, times in run.summary.stages_ms.items()
            if run.manifest.is_timed or name not in MODEL_STAGES
        }
        for run in section.runs
    }
    names = dict.fromkeys(name for stages in shown.values() for name in stages)
    rows = tuple(
        (name, *(show_ms(stages.get(name)) for stages in shown.values())) for name in names
    )
    return ReportTable("Stages, p50 (p95)", ("stage", *shown), rows)


def _build_comparison_table(section: ReportSection) -> ReportTable:
    """The runs compared question by question, with the questions that flipped."""
    rows = tuple(
        (
            f"{section.label(pair.right)} against {section.label(pair.left)}",
            f"{pair.shared:,}",
            show_difference(pair.difference),
            _show_questions(pair.gained),
            _show_questions(pair.lost),
            show_p_value(pair.p_value),
        )
        for pair in section.comparisons
    )
    columns = ("runs", "shared", "difference in points", "gained", "lost", "McNemar p")
    return ReportTable("Run against run", columns, rows)


def show_difference(difference: Estimate) -> str:
    """A paired difference with its interval, in percentage points.

    >>> show_difference(Estimate(0.03, 0.0, 0.07, 100))
    '+3.0 (0.0 to +7.0)'
    """
    low, high = show_points(difference.low), show_points(difference.high)
    return f"{show_points(difference.value)} ({low} to {high})"


def _show_questions(names: Sequence[str]) -> str:
    return f"{len(names):,}: {', '.join(names)}" if names else "none"
