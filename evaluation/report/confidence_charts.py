"""The charts of a confidence: accuracy over coverage, and reliability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evaluation.metrics.figures import ConfidenceFigures
from evaluation.report import plots
from evaluation.report.cells import show_percent
from evaluation.report.chart import Chart, make_chart, say_estimate
from evaluation.report.sections import LabelledRun, Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CURVES = len(plots.CYCLE)


def chart_selective(section: Section) -> Chart | None:
    """Accuracy over coverage, from the most confident answer down."""
    found = _confident(section)
    if not found:
        return None

    def draw(axes: Axes) -> None:
        for at, (run, figures) in enumerate(found):
            color = plots.CYCLE[at]
            coverage, risk = zip(*figures.risk_coverage, strict=True)
            axes.plot(
                coverage,
                [1 - wrong for wrong in risk],
                color=color,
                linestyle=plots.DASHES[at % len(plots.DASHES)],
                label=plots.clean_label(run.label),
            )
            # If no answer reaches the threshold, there is no accuracy to mark.
            if figures.at_threshold.accuracy.count:
                axes.plot(
                    figures.at_threshold.coverage,
                    figures.at_threshold.accuracy.value,
                    color=color,
                    marker=plots.MARKERS[at],
                    markersize=7,
                )
        axes.set_xlabel("share of questions answered")
        axes.set_ylabel("right among them")
        axes.set_xlim(0, 1.02)
        plots.show_percents(axes, "x")
        plots.show_percents(axes, "y")
        plots.show_legend(axes)

    return make_chart(
        section.anchor,
        "selective",
        "Accuracy and coverage",
        "The accuracy of the answers given, from the most confident answer down. A marker is the "
        "run's own threshold, ranking.min_confidence; at 0 every answer is given.",
        draw,
        description="; ".join(_describe_selective(run, figures) for run, figures in found),
    )


def chart_reliability(section: Section) -> Chart | None:
    """The accuracy of answers by bins of their confidence."""
    featured = section.featured
    figures = featured.run.summary.confidence
    bins = [part for part in figures.bins if part.count] if figures else []
    if figures is None or not bins:
        return None

    def draw(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color=plots.GREY, linestyle="--", linewidth=1.4, zorder=4)
        for part in bins:
            width = part.high - part.low
            middle = part.low + width / 2
            axes.bar(middle, part.accuracy, 0.92 * width, color=plots.BLUE, alpha=0.75)
            axes.text(middle, 1.03, f"{part.count}", ha="center", fontsize=8.5)
        axes.set_xlabel("confidence")
        axes.set_ylabel("right among those answers")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.1)
        plots.show_percents(axes, "x")
        plots.show_percents(axes, "y")

    return make_chart(
        section.anchor,
        "reliability",
        f"Reliability of the confidence, {featured.label}",
        "On the dashed line, the accuracy equals the confidence. Along the top: the number of "
        f"answers. Expected calibration error {figures.calibration_error:.3f}.",
        draw,
        description="; ".join(
            f"confidence {part.low:.1f} to {part.high:.1f}: {show_percent(part.accuracy)} right of "
            f"{part.count}"
            for part in bins
        ),
    )


def _confident(section: Section) -> Sequence[tuple[LabelledRun, ConfidenceFigures]]:
    """The last runs with a risk-coverage curve, as many as there are colours."""
    found = [
        (system, figures)
        for system in section.systems
        if (figures := system.run.summary.confidence) is not None and figures.risk_coverage
    ]
    return found[-_MOST_CURVES:]


def _describe_selective(run: LabelledRun, figures: ConfidenceFigures) -> str:
    at = figures.at_threshold
    return (
        f"{run.label}: from {at.threshold:.2f} up {show_percent(at.coverage)} answered, "
        f"{say_estimate(at.accuracy)} right; calibration error {figures.calibration_error:.3f}"
    )
