"""The plots of a confidence: what it is worth to leave answers out, and whether it is kept."""

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
    """The accuracy of what is answered when only the most confident answers are given."""
    found = _confident(section)
    if not found:
        return None

    def draw(axes: Axes) -> None:
        for at, (each, figures) in enumerate(found):
            color = plots.CYCLE[at]
            coverage, risk = zip(*figures.risk_coverage, strict=True)
            axes.plot(
                coverage,
                [1 - wrong for wrong in risk],
                color=color,
                linestyle=plots.DASHES[at % len(plots.DASHES)],
                label=plots.clean_label(each.label),
            )
            # Where nothing reaches the threshold there is no accuracy to mark.
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
        "From the most confident answer down: how many of those given are right. A marker is what "
        "the run's own threshold, ranking.min_confidence, gives; at 0 every answer is given.",
        draw,
        description="; ".join(_describe_selective(each, figures) for each, figures in found),
    )


def chart_reliability(section: Section) -> Chart | None:
    """Of answers given with some confidence, how many are right."""
    featured = section.featured
    figures = featured.run.summary.confidence
    bins = [each for each in figures.bins if each.count] if figures else []
    if figures is None or not bins:
        return None

    def draw(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color=plots.GREY, linestyle="--", linewidth=1.4, zorder=4)
        for each in bins:
            width = each.high - each.low
            middle = each.low + width / 2
            axes.bar(middle, each.accuracy, 0.92 * width, color=plots.BLUE, alpha=0.75)
            axes.text(middle, 1.03, f"{each.count}", ha="center", fontsize=8.5)
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
        "Where bars meet the dashed line, confidence is kept. Along the top: how many answers. "
        f"Expected calibration error {figures.calibration_error:.3f}.",
        draw,
        description="; ".join(
            f"confidence {each.low:.1f} to {each.high:.1f}: {show_percent(each.accuracy)} right of "
            f"{each.count}"
            for each in bins
        ),
    )


def _confident(section: Section) -> Sequence[tuple[LabelledRun, ConfidenceFigures]]:
    """The runs with a risk-coverage curve: as many of the last as colours can tell apart."""
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
