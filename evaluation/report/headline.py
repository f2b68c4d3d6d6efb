"""The key figures of a section, for the top of the report."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.figures import Estimate
from evaluation.report.cells import show_estimate, show_percent, show_points
from evaluation.report.sections import Section


@dataclass(frozen=True, slots=True)
class Headline:
    """Texts are ready to be shown; ``accuracy``, ``oracle`` and ``baseline`` are shares."""

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
    """The featured run's figures, each as (name, figure, what it is held against)."""
    featured = section.featured
    summary = featured.run.summary
    answer = show_estimate(summary.accuracy)
    baseline = section.baseline if section.baseline is not featured else None
    figures = [
        (
            "oracle gap",
            f"{show_points(summary.oracle.value - summary.accuracy.value)} pts",
            f"a right candidate: {show_percent(summary.oracle.value)}",
        ),
        ("executes", show_percent(summary.executes.value), "of the questions"),
        (
            "questions / min",
            f"{summary.questions_per_minute:,.1f}",
            f"median {summary.seconds.p50:.1f} s",
        ),
    ]
    if baseline is not None:
        theirs = baseline.run.summary.accuracy.value
        difference = show_points(summary.accuracy.value - theirs, signed=True)
        figures.append(
            (f"against {baseline.label}", f"{difference} pts", f"from {show_percent(theirs)}")
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
