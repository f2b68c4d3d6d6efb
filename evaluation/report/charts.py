"""The charts of a report, each drawn only if there are data for it; matplotlib writes them as PNG.

matplotlib is imported at the first chart, without pyplot and so without a backend; its settings are
restored afterwards. Labels are untrusted text: they are never parsed as mathtext.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.metrics.figures import Estimate
from evaluation.report.sections import ReportSection

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, suitable for every kind of colour blindness.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_GREY = "#8A8F98"
_DASHES = ("-", "--", ":", "-.", "-", "--")
_MARKERS = ("o", "D", "s", "^", "v", "P")
_STYLE = {
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E8EB",
    "legend.frameon": False,
}
_SIZE_INCHES = (6.2, 3.2)
_DPI = 144
_LONGEST_LABEL = 34


@dataclass(frozen=True, slots=True)
class Chart:
    """``name`` is unique in its report."""

    name: str
    title: str
    caption: str
    draw: Callable[[Axes], None]


def save_chart(chart: Chart, path: Path) -> None:
    """Draws the chart as a PNG file. Raises OSError."""
    from matplotlib.figure import Figure

    with _style():
        figure = Figure(figsize=_SIZE_INCHES, dpi=_DPI, layout="constrained")
        chart.draw(figure.subplots())
        figure.savefig(path, metadata={"Software": None})


def clean_label(text: str) -> str:
    """``text`` on one line, shortened, without characters that cannot be drawn.

    >>> clean_label("a\\x00b\\n c")
    'a�b c'
    """
    line = " ".join(text.split())
    line = "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
    line = line if len(line) <= _LONGEST_LABEL else f"{line[: _LONGEST_LABEL - 1]}…"
    # Legends leave out labels that begin with an underscore.
    return f" {line}" if line.startswith("_") else line


def build_charts(section: ReportSection) -> tuple[Chart, ...]:
    """All charts that this section has data for."""
    charts = (_chart_curve(section), _chart_selective(section), _chart_reliability(section))
    return tuple(chart for chart in charts if chart is not None)


def _chart_curve(section: ReportSection) -> Chart | None:
    """Accuracy over K: vote, oracle, majority, first sample; the baseline as a line."""
    runs, baseline = section.curve, section.baseline
    if len(runs) < 2:
        return None
    counts = [run.manifest.k for run in runs]
    summaries = [run.summary for run in runs]

    def draw(axes: Axes) -> None:
        if baseline is not None:
            label, accuracy = clean_label(baseline.label), baseline.summary.accuracy.value
            axes.axhline(accuracy, color=_GREY, linestyle=(0, (5, 3)), label=label)
        axes.set_xscale("log", base=2)
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.minorticks_off()
        axes.set_xlabel("candidates, K")
        series: dict[str, list[Estimate | None]] = {
            "vote": [summary.chosen for summary in summaries],
            "oracle": [summary.oracle for summary in summaries],
            "majority": [summary.majority for summary in summaries],
            "first sample": [summary.first for summary in summaries],
        }
        for (label, found), color, marker, dashes in zip(
            series.items(), _COLOURS, _MARKERS, _DASHES, strict=False
        ):
            shown = [(k, one.value) for k, one in zip(counts, found, strict=True) if one]
            axes.plot(
                [k for k, _ in shown],
                [value for _, value in shown],
                color=color,
                marker=marker,
                linestyle=dashes,
                label=label,
            )
        low, high = [one.chosen.low for one in summaries], [one.chosen.high for one in summaries]
        axes.fill_between(counts, low, high, color=_COLOURS[0], alpha=0.13, linewidth=0)
        axes.yaxis.set_major_formatter(_show_share)
        _show_legend(axes)

    return Chart(
        f"{section.anchor}-curve",
        "Accuracy over K",
        "The accuracy of the vote over K candidates, of a plain majority of their results, and of "
        "the oracle: the distance between vote and oracle is the loss by selection, with clarify "
        "counted as its first interpretation. These runs differ only in K. The band is the vote's "
        "95 % interval.",
        draw,
    )


def _chart_selective(section: ReportSection) -> Chart | None:
    """Accuracy over coverage, from the most confident answer down."""
    found = [
        (system, figures)
        for system in section.systems
        if (figures := system.summary.confidence) is not None and figures.risk_coverage
    ][-len(_COLOURS) :]
    if not found:
        return None

    def draw(axes: Axes) -> None:
        for (run, figures), color, dashes, marker in zip(
            found, _COLOURS, _DASHES, _MARKERS, strict=False
        ):
            coverage, risk = zip(*figures.risk_coverage, strict=True)
            right = [1 - wrong for wrong in risk]
            label = clean_label(run.label)
            axes.plot(coverage, right, color=color, linestyle=dashes, label=label)
            at = figures.at_threshold
            # If no answer reaches the threshold, there is no accuracy to mark.
            if at.accuracy.count:
                axes.plot(at.coverage, at.accuracy.value, color=color, marker=marker)
        axes.set(xlabel="share of questions answered", ylabel="right among them", xlim=(0, 1.02))
        axes.xaxis.set_major_formatter(_show_share)
        axes.yaxis.set_major_formatter(_show_share)
        _show_legend(axes)

    return Chart(
        f"{section.anchor}-selective",
        "Accuracy and coverage",
        "The accuracy of the answers given, from the most confident answer down. A marker is the "
        "run's own threshold, ranking.min_confidence; at 0 every answer is given.",
        draw,
    )


def _chart_reliability(section: ReportSection) -> Chart | None:
    """The accuracy of answers by bins of their confidence."""
    featured = section.featured
    figures = featured.summary.confidence
    bins = [part for part in figures.bins if part.count] if figures else []
    if figures is None or not bins:
        return None

    def draw(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color=_GREY, linestyle="--", zorder=4)
        for part in bins:
            width = part.high - part.low
            middle = part.low + width / 2
            axes.bar(middle, part.accuracy, 0.92 * width, color=_COLOURS[0], alpha=0.75)
            axes.text(middle, 1.03, f"{part.count}", ha="center", fontsize=8.5)
        axes.set(xlabel="confidence", ylabel="right among those answers")
        axes.set(xlim=(0, 1), ylim=(0, 1.1))
        axes.xaxis.set_major_formatter(_show_share)
        axes.yaxis.set_major_formatter(_show_share)

    return Chart(
        f"{section.anchor}-reliability",
        f"Reliability of the confidence, {featured.label}",
        "On the dashed line, the accuracy equals the confidence. Along the top: the number of "
        f"answers. Expected calibration error {figures.calibration_error:.3f}.",
        draw,
    )


def _show_share(value: float, _: object) -> str:
    return f"{round(100 * value, 1):g} %"


def _show_legend(axes: Axes) -> None:
    """Puts the legend in a line above the plot."""
    columns = min(len(axes.get_legend_handles_labels()[1]), 4)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.01), ncols=columns, borderaxespad=0)


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield
