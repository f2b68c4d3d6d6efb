"""The charts of a report, each drawn only if there are data for it; matplotlib writes them as PNG.

matplotlib is imported at the first chart, without pyplot and so without a backend; its settings are
restored afterwards. Labels are untrusted text: they are never parsed as mathtext.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.metrics.figures import Estimate
from evaluation.report.cells import show_percent, show_points
from evaluation.report.sections import Section
from evaluation.report.tables import BREAKDOWNS, compared_runs

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
_WIDTH_INCHES = 6.2
_DPI = 144
_LONGEST_LABEL = 34
_MOST_ROWS = 40


@dataclass(frozen=True, slots=True)
class Chart:
    """``name`` is unique in its report; ``height`` is in inches."""

    name: str
    title: str
    caption: str
    draw: Callable[[Axes], None]
    height: float = 3.2


def save_chart(chart: Chart, path: Path) -> None:
    """Draws the chart as a PNG file. Raises OSError."""
    from matplotlib.figure import Figure

    with _style():
        figure = Figure(figsize=(_WIDTH_INCHES, chart.height), dpi=_DPI, layout="constrained")
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


def build_charts(section: Section) -> tuple[Chart, ...]:
    """All charts that this section has data for."""
    charts = (
        _chart_curve(section),
        _chart_ablation(section),
        _chart_selective(section),
        _chart_reliability(section),
        *(_chart_breakdown(section, title) for title, _ in BREAKDOWNS),
    )
    return tuple(chart for chart in charts if chart is not None)


def draw_lines(
    axes: Axes, x: Sequence[float], series: Mapping[str, Sequence[Estimate | None]]
) -> None:
    """A line for each series, the first with its interval as a band; percentages at the ticks."""
    for at, (label, estimates) in enumerate(series.items()):
        found = [(k, one) for k, one in zip(x, estimates, strict=True) if one is not None]
        if not found:
            continue
        places = [k for k, _ in found]
        axes.plot(
            places,
            [one.value for _, one in found],
            color=_COLOURS[at % len(_COLOURS)],
            marker=_MARKERS[at % len(_MARKERS)],
            linestyle=_DASHES[at % len(_DASHES)],
            label=clean_label(label),
        )
        if at == 0:
            low, high = [one.low for _, one in found], [one.high for _, one in found]
            axes.fill_between(places, low, high, color=_COLOURS[0], alpha=0.13, linewidth=0)
    axes.yaxis.set_major_formatter(_show_share)
    _show_legend(axes)


def _chart_curve(section: Section) -> Chart | None:
    """Accuracy over K: vote, oracle, majority, first sample; the baseline as a line."""
    runs, baseline = section.curve, section.baseline
    if len(runs) < 2:
        return None
    counts = [run.run.manifest.k for run in runs]
    summaries = [run.run.summary for run in runs]

    def draw(axes: Axes) -> None:
        if baseline is not None:
            label, accuracy = clean_label(baseline.label), baseline.run.summary.accuracy.value
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
        draw_lines(axes, counts, series)

    return Chart(
        f"{section.anchor}-curve",
        "Accuracy over K",
        "The accuracy of the vote over K candidates, of a plain majority of their results, and of "
        "the oracle: the distance between vote and oracle is the loss by selection, with clarify "
        "counted as its first interpretation. These runs differ only in K. The band is the vote's "
        "95 % interval.",
        draw,
    )


def _chart_ablation(section: Section) -> Chart | None:
    """The paired difference of accuracy with each stage switched off."""
    full, pairs = section.full, section.ablations
    if full is None or not pairs:
        return None

    def draw(axes: Axes) -> None:
        for y, pair in enumerate(pairs):
            found = pair.difference
            color = _COLOURS[1] if found.value < 0 else _COLOURS[0]
            alpha = 1.0 if found.low > 0 or found.high < 0 else 0.35
            axes.barh(y, found.value, 0.56, xerr=_errors([found]), color=color, alpha=alpha)
        axes.axvline(0, color="black", linewidth=1)
        _name_rows(axes, [clean_label(section.label(pair.right)) for pair in pairs])
        axes.xaxis.set_major_formatter(lambda value, _: show_points(value, signed=True))
        axes.set_xlabel(f"percentage points against {clean_label(full.label)}")

    return Chart(
        f"{section.anchor}-ablation",
        "Effect of each stage",
        f"Accuracy with one stage switched off minus {full.label} "
        f"({show_percent(full.run.summary.accuracy.value)}), on the questions that both share. "
        "Pale bars: the 95 % interval of the difference includes zero.",
        draw,
        height=1.0 + 0.36 * len(pairs),
    )


def _chart_selective(section: Section) -> Chart | None:
    """Accuracy over coverage, from the most confident answer down."""
    found = [
        (system, figures)
        for system in section.systems
        if (figures := system.run.summary.confidence) is not None and figures.risk_coverage
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


def _chart_reliability(section: Section) -> Chart | None:
    """The accuracy of answers by bins of their confidence."""
    featured = section.featured
    figures = featured.run.summary.confidence
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


def _chart_breakdown(section: Section, title: str) -> Chart | None:
    """Accuracy by difficulty, database or length, of the baseline and the featured run."""
    pick = dict(BREAKDOWNS)[title]
    runs = compared_runs(section)
    counts: dict[str, int] = {}
    for run in runs:
        for name, estimate in pick(run.run).items():
            counts[name] = max(counts.get(name, 0), estimate.count)
    if len(counts) < 2:
        return None
    largest = sorted(counts, key=lambda name: -counts[name])[:_MOST_ROWS]
    names = [name for name in counts if name in largest]

    def draw(axes: Axes) -> None:
        for at, run in enumerate(reversed(runs)):
            offset = 0.28 * (at - (len(runs) - 1) / 2)
            found = [(y, pick(run.run).get(name)) for y, name in enumerate(names)]
            shown = [(y, one) for y, one in found if one is not None and one.count]
            axes.errorbar(
                [one.value for _, one in shown],
                [y + offset for y, _ in shown],
                xerr=_errors([one for _, one in shown]),
                label=clean_label(run.label),
                color=_COLOURS[at],
                marker=_MARKERS[at],
                linestyle="none",
            )
        _name_rows(axes, [f"{clean_label(name) or 'not given'} ({counts[name]})" for name in names])
        axes.set_xlim(-0.02, 1.02)
        axes.xaxis.set_major_formatter(_show_share)
        if len(runs) > 1:
            _show_legend(axes)

    left_out = len(counts) - len(names)
    return Chart(
        f"{section.anchor}-{title.replace(' ', '-')}",
        f"Accuracy by {title}" + (f", {runs[0].label}" if len(runs) == 1 else ""),
        "In brackets: how many questions. Lines are 95 % intervals."
        + (f" Without the {left_out} smallest; the table has all." if left_out else ""),
        draw,
        height=1.0 + (0.42 if len(runs) > 1 else 0.34) * len(names),
    )


def _show_share(value: float, _: object) -> str:
    return f"{round(100 * value, 1):g} %"


def _show_legend(axes: Axes) -> None:
    """Puts the legend in a line above the plot."""
    columns = min(len(axes.get_legend_handles_labels()[1]), 4)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.01), ncols=columns, borderaxespad=0)


def _name_rows(axes: Axes, rows: Sequence[str]) -> None:
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.4, -0.6)


def _errors(estimates: Sequence[Estimate]) -> list[list[float]]:
    # matplotlib refuses negative lengths, which rounding can cause.
    return [
        [max(estimate.value - estimate.low, 0.0) for estimate in estimates],
        [max(estimate.high - estimate.value, 0.0) for estimate in estimates],
    ]


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield
