"""Which plots a section has: each is drawn only where there is something to see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from evaluation.figures import ConfidenceFigures, Estimate
from evaluation.pairing import compare_runs
from evaluation.report import plots
from evaluation.report.cells import show_estimate, show_ms, show_percent, show_points
from evaluation.report.sections import LabelledRun, Section
from evaluation.report.tables import BREAKDOWNS, compared_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ROWS = 40
_MOST_CURVES = len(plots.CYCLE)


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot as an ``<svg>`` element with what is said about it; texts are not escaped."""

    title: str
    svg: Markup
    caption: str


def build_charts(section: Section) -> tuple[Chart, ...]:
    """All plots that this section has data for."""
    charts = [
        chart_runs(section),
        chart_curve(section),
        chart_ablation(section),
        chart_risk(section),
        chart_reliability(section),
        chart_recall(section),
        chart_stages(section),
        *chart_breakdowns(section),
    ]
    return tuple(each for each in charts if each is not None)


def chart_runs(section: Section) -> Chart | None:
    """Each run's accuracy beside what its candidates hold and a random one of them."""
    runs = section.systems
    if len(runs) < 2:
        return None
    series = {
        "accuracy": [each.run.summary.accuracy for each in runs],
        "oracle": [each.run.summary.oracle for each in runs],
        "random sample": [each.run.summary.mean_sample for each in runs],
    }

    def draw(axes: Axes) -> None:
        plots.draw_intervals(
            axes,
            [each.label for each in runs],
            series,
            (plots.BLUE, plots.VERMILLION, plots.GREY),
            spread=0.22,
        )
        plots.show_legend(axes)

    return _make_chart(
        section,
        "runs",
        "Accuracy, oracle and a random sample",
        "Dots are means, lines their 95 % intervals. The oracle counts a question as right when "
        "any candidate is.",
        draw,
        height=1.0 + 0.52 * len(runs),
        description="; ".join(
            f"{each.label}: {_say(each.run.summary.accuracy)}, "
            f"oracle {show_percent(each.run.summary.oracle.value)}"
            for each in runs
        ),
    )


def chart_curve(section: Section) -> Chart | None:
    """Accuracy over K: the vote, the oracle, one sample; the baseline as a level."""
    runs = section.curve
    if len(runs) < 2:
        return None
    counts = [each.run.manifest.k for each in runs]
    baseline = section.baseline

    def draw(axes: Axes) -> None:
        summaries = [each.run.summary for each in runs]
        plots.draw_line(axes, counts, [each.accuracy for each in summaries], "vote", 0)
        plots.draw_line(axes, counts, [each.oracle for each in summaries], "oracle", 1)
        plots.draw_line(
            axes, counts, [each.mean_sample for each in summaries], "random sample", 2, band=False
        )
        if baseline is not None:
            axes.axhline(
                baseline.run.summary.accuracy.value,
                color=plots.GREY,
                linestyle=(0, (5, 3)),
                linewidth=1.4,
                label=plots.clean_label(baseline.label),
            )
        axes.set_xscale("log", base=2)
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.minorticks_off()
        axes.set_xlabel("candidates, K")
        plots.show_percents(axes, "y")
        plots.show_legend(axes)

    return _make_chart(
        section,
        "curve",
        "More candidates",
        "What the vote makes of K candidates, and what they hold: the distance between vote and "
        "oracle is what selection leaves on the table. Bands are 95 % intervals.",
        draw,
        description="; ".join(
            f"K={k}: vote {show_percent(each.run.summary.accuracy.value)}, "
            f"oracle {show_percent(each.run.summary.oracle.value)}"
            for k, each in zip(counts, runs, strict=True)
        ),
    )


def chart_ablation(section: Section) -> Chart | None:
    """What accuracy loses with each stage switched off, question by question."""
    full = section.full
    if full is None:
        return None
    differences = [(each, _difference(full, each)) for each in section.ablated]
    differences.sort(key=lambda pair: pair[1].value)

    def draw(axes: Axes) -> None:
        plots.draw_differences(
            axes, [each.label for each, _ in differences], [each for _, each in differences]
        )
        axes.set_xlabel(f"percentage points against {plots.clean_label(full.label)}")

    return _make_chart(
        section,
        "ablation",
        "What each stage is worth",
        f"Accuracy with one stage switched off minus {full.label} "
        f"({show_percent(full.run.summary.accuracy.value)}), on the questions both share. Pale "
        "bars: the 95 % interval of the difference includes zero.",
        draw,
        height=1.0 + 0.36 * len(differences),
        description="; ".join(
            f"{each.label}: {show_points(difference.value, signed=True)} points, "
            f"{show_points(difference.low, signed=True)} to "
            f"{show_points(difference.high, signed=True)}"
            for each, difference in differences
        ),
    )


def chart_risk(section: Section) -> Chart | None:
    """The share of wrong answers when only the most confident ones are given."""
    found = _confident(section)
    if not found:
        return None

    def draw(axes: Axes) -> None:
        for at, (each, figures) in enumerate(found):
            color = plots.CYCLE[at]
            coverage, risk = zip(*figures.risk_coverage, strict=True)
            axes.plot(
                coverage,
                risk,
                color=color,
                linestyle=plots.DASHES[at % len(plots.DASHES)],
                label=plots.clean_label(each.label),
            )
            if figures.at_threshold.threshold > 0:
                axes.plot(
                    figures.at_threshold.coverage,
                    1 - figures.at_threshold.accuracy.value,
                    color=color,
                    marker=plots.MARKERS[at],
                    markersize=7,
                )
        axes.set_xlabel("share of questions answered")
        axes.set_ylabel("wrong among them")
        axes.set_xlim(0, 1.02)
        axes.set_ylim(bottom=0)
        plots.show_percents(axes, "x")
        plots.show_percents(axes, "y")
        plots.show_legend(axes)

    return _make_chart(
        section,
        "risk",
        "Risk and coverage",
        "From the most confident answer down: how many would be wrong if the rest were not given. "
        "Lower is better; a marker is the threshold of the run.",
        draw,
        description="; ".join(
            f"{each.label}: area under the curve {figures.area:.3f}" for each, figures in found
        ),
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

    return _make_chart(
        section,
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


def chart_recall(section: Section) -> Chart | None:
    """Recall of the gold's tables over the first k retrieved."""
    featured = section.featured
    summary = featured.run.summary
    recall = [(k, each) for k, each in sorted(summary.recall_tables.items()) if each.count]
    if len(recall) < 2:
        return None
    counts, estimates = [k for k, _ in recall], [each for _, each in recall]

    def draw(axes: Axes) -> None:
        plots.draw_line(axes, counts, estimates, "recall of tables", 0)
        axes.set_xlabel("first k tables retrieved")
        axes.set_ylabel("recall of the gold's tables")
        axes.set_xticks(counts)
        axes.set_ylim(top=1.02)
        plots.show_percents(axes, "y")

    extra = [
        f"{what} {_say(each)}"
        for what, each in (
            ("Every gold table is there for", summary.all_tables),
            ("recall of gold columns:", summary.recall_columns),
        )
        if each is not None and each.count
    ]
    return _make_chart(
        section,
        "recall",
        f"Retrieval recall, {featured.label}",
        f"{'; '.join(extra)}." if extra else "",
        draw,
        description="; ".join(f"at {k}: {show_percent(each.value)}" for k, each in recall),
    )


def chart_stages(section: Section) -> Chart | None:
    """Where the time of a question goes."""
    featured = section.featured
    stages = featured.run.summary.stages_ms
    if not stages:
        return None
    own = featured.run.summary.own_ms
    texts = [f"{show_ms(each.p50)} · {show_ms(each.p95)}" for each in stages.values()]

    def draw(axes: Axes) -> None:
        pairs = [(each.p50 / 1000, each.p95 / 1000) for each in stages.values()]
        plots.draw_durations(axes, list(stages), pairs, texts)
        axes.set_xlabel("seconds")
        plots.show_legend(axes)

    return _make_chart(
        section,
        "stages",
        f"Time by stage, {featured.label}",
        f"Median and 95th percentile. Everything but the model: {show_ms(own.p50)} and "
        f"{show_ms(own.p95)}.",
        draw,
        height=1.2 + 0.34 * len(stages),
        description="; ".join(f"{name}: {text}" for name, text in zip(stages, texts, strict=True)),
    )


def chart_breakdowns(section: Section) -> tuple[Chart | None, ...]:
    """Accuracy by difficulty, database and length, of the baseline and the featured run."""
    return tuple(_chart_breakdown(section, title) for title, _ in BREAKDOWNS)


def _chart_breakdown(section: Section, title: str) -> Chart | None:
    pick = dict(BREAKDOWNS)[title]
    runs = compared_runs(section)
    counts: dict[str, int] = {}
    for each in runs:
        for name, estimate in pick(each.run).items():
            counts[name] = max(counts.get(name, 0), estimate.count)
    if len(counts) < 2:
        return None
    largest = sorted(counts, key=lambda name: -counts[name])[:_MOST_ROWS]
    names = [name for name in counts if name in largest]

    def draw(axes: Axes) -> None:
        plots.draw_intervals(
            axes,
            [f"{plots.clean_label(name) or 'not given'} ({counts[name]})" for name in names],
            {each.label: [pick(each.run).get(name) for name in names] for each in reversed(runs)},
            (plots.BLUE, plots.ORANGE),
            spread=0.28 if len(runs) > 1 else 0.0,
        )
        axes.set_xlim(-0.02, 1.02)
        if len(runs) > 1:
            plots.show_legend(axes)

    left_out = len(counts) - len(names)
    return _make_chart(
        section,
        title.replace(" ", "-"),
        f"Accuracy by {title}" + (f", {runs[0].label}" if len(runs) == 1 else ""),
        "In brackets: how many questions. Lines are 95 % intervals."
        + (f" Without the {left_out} smallest; the table has all." if left_out else ""),
        draw,
        height=1.0 + (0.42 if len(runs) > 1 else 0.34) * len(names),
        description="; ".join(f"{name}: {_say(pick(runs[-1].run).get(name))}" for name in names),
    )


def _make_chart(
    section: Section,
    name: str,
    title: str,
    caption: str,
    draw: plots.Draw,
    *,
    description: str,
    height: float = 3.2,
) -> Chart:
    svg = plots.draw_svg(
        draw,
        height=height,
        name=f"{section.anchor}-{name}",
        description=f"{title}. {description}.",
    )
    return Chart(title, svg, caption)


def _confident(section: Section) -> Sequence[tuple[LabelledRun, ConfidenceFigures]]:
    """The runs with a risk-coverage curve: as many of the last as colours can tell apart."""
    found = [
        (each, figures)
        for each in section.systems
        if (figures := each.run.summary.confidence) is not None and figures.risk_coverage
    ]
    return found[-_MOST_CURVES:]


def _difference(full: LabelledRun, ablated: LabelledRun) -> Estimate:
    return compare_runs(
        full.run.name, full.run.records, ablated.run.name, ablated.run.records
    ).difference


def _say(estimate: Estimate | None) -> str:
    cell = show_estimate(estimate)
    return f"{cell.text} ({cell.detail})" if cell.detail else "no questions"
