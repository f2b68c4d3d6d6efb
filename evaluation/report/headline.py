"""The key figures of a section, for the top of the report."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.metrics.figures import Estimate
from evaluation.metrics.pairing import compare_runs
from evaluation.report.cells import NONE, show_estimate, show_percent, show_points
from evaluation.report.sections import Section


@dataclass(frozen=True, slots=True)
class Headline:
    """The key figures as texts; ``accuracy``, ``oracle`` and ``baseline`` are shares."""

    title: str
    anchor: str
    scope: str
    run: str
    accuracy: Estimate
    oracle: float
    baseline: float | None
    baseline_label: str
    text: str
    interval: str
    figures: tuple[tuple[str, str, str], ...]


def build_headline(section: Section) -> Headline:
    """The featured run's figures, each as (name, figure, remark)."""
    featured = section.featured
    summary = featured.run.summary
    answer = show_estimate(summary.accuracy)
    baseline = section.baseline if section.baseline is not featured else None
    figures = [
        (
            "oracle gap",
            f"{show_points(summary.oracle.value - summary.chosen.value)} pts",
            f"a right candidate: {show_percent(summary.oracle.value)}",
        ),
        ("executes", show_percent(summary.executes.value), "of the questions"),
        (
            "questions / min",
            f"{summary.questions_per_minute:,.1f}",
            f"median {summary.seconds.p50:.1f} s",
        )
        if featured.run.manifest.is_timed
        else ("questions / min", NONE, "samples were read from a file"),
    ]
    if baseline is not None:
        pair = compare_runs(
            baseline.run.name, baseline.run.records, featured.run.name, featured.run.records
        )
        difference = show_points(pair.difference.value, signed=True)
        theirs = (pair.both + len(pair.lost)) / pair.shared if pair.shared else 0.0
        figures.append(
            (f"against {baseline.label}", f"{difference} pts", f"from {show_percent(theirs)}")
        )
    if summary.confidence is not None:
        at = summary.confidence.at_threshold
        figures.append(
            (
                "calibration error",
                f"{summary.confidence.calibration_error:.3f}",
                f"above {at.threshold:.2f}: {show_percent(at.coverage)} answered, "
                f"{show_percent(at.accuracy.value)} of them right",
            )
        )
    return Headline(
        title=section.title,
        anchor=section.anchor,
        scope=f"{summary.counted:,} questions, {_count_runs(len(section.runs))}",
        run=featured.label,
        accuracy=summary.accuracy,
        oracle=summary.oracle.value,
        baseline=baseline.run.summary.accuracy.value if baseline else None,
        baseline_label=baseline.label if baseline else "",
        text=answer.text,
        interval=answer.detail,
        figures=tuple(figures),
    )


def _count_runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
