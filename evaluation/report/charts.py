"""The charts of a section, drawn only if there are data for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.report import plots
from evaluation.report.cells import show_ms, show_percent, show_points
from evaluation.report.chart import Chart, make_chart, say_estimate
from evaluation.report.confidence_charts import chart_reliability, chart_selective
from evaluation.report.sections import Section
from evaluation.report.tables import BREAKDOWNS, compared_runs, timed_stages

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ROWS = 40


def build_charts(section: Section) -> tuple[Chart, ...]:
    """All charts that this section has data for."""
    charts = [
        chart_runs(section),
        chart_curve(section),
        chart_ablation(section),
        chart_selective(section),
        chart_reliability(section),
        chart_recall(section),
        chart_stages(section),
        *chart_breakdowns(section),
    ]
    return tuple(chart for chart in charts if chart is not None)


def chart_runs(section: Section) -> Chart | None:
    """Each run's accuracy, oracle and accuracy of a random sample."""
    runs = section.systems
    if len(runs) < 2:
        return None
    series = {
        "accuracy": [run.run.summary.accuracy for run in runs],
        "oracle": [run.run.summary.oracle for run in runs],
        "random sample": [run.run.summary.mean_sample for run in runs],
    }

    def draw(axes: Axes) -> None:
        plots.draw_intervals(
            axes,
            [run.label for run in runs],
            series,
            (plots.BLUE, plots.VERMILLION, plots.GREY),
            spread=0.22,
        )
        plots.show_legend(axes)

    return make_chart(
        section.anchor,
        "runs",
        "Accuracy, oracle and a random sample",
        "Dots are means, lines their 95 % intervals. The oracle counts a question as right when "
        "any candidate is.",
        draw,
        height=1.0 + 0.52 * len(runs),
        description="; ".join(
            f"{run.label}: {say_estimate(run.run.summary.accuracy)}, "
            f"oracle {show_percent(run.run.summary.oracle.value)}"
            for run in runs
        ),
    )


def chart_curve(section: Section) -> Chart | None:
    """Accuracy over K: vote, oracle, majority, first sample; the baseline as a line."""
    runs = section.curve
    if len(runs) < 2:
        return None
    counts = [run.run.manifest.k for run in runs]
    baseline = section.baseline

    def draw(axes: Axes) -> None:
        summaries = [run.run.summary for run in runs]
        plots.draw_line(axes, counts, [summary.chosen for summary in summaries], "vote", 0)
        plots.draw_line(axes, counts, [summary.oracle for summary in summaries], "oracle", 1)
        voted = [(k, summary.majority) for k, summary in zip(counts, summaries, strict=True)]
        majority = [(k, estimate) for k, estimate in voted if estimate is not None]
        if majority:
            plots.draw_line(
                axes,
                [k for k, _ in majority],
                [estimate for _, estimate in majority],
                "majority",
                2,
                band=False,
            )
        plots.draw_line(
            axes, counts, [summary.first for summary in summaries], "first sample", 3, band=False
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

    return make_chart(
        section.anchor,
        "curve",
        "Accuracy over K",
        "The accuracy of the vote over K candidates, of a plain majority of their results, and of "
        "the oracle: the distance between vote and oracle is the loss by selection, with clarify "
        "counted as its first interpretation. These runs differ only in K. Bands are 95 % "
        "intervals.",
        draw,
        description="; ".join(
            f"K={k}: vote {show_percent(run.run.summary.chosen.value)}, "
            f"majority {say_estimate(run.run.summary.majority)}, "
            f"first sample {show_percent(run.run.summary.first.value)}, "
            f"oracle {show_percent(run.run.summary.oracle.value)}"
            for k, run in zip(counts, runs, strict=True)
        ),
    )


def chart_ablation(section: Section) -> Chart | None:
    """The paired difference of accuracy with each stage switched off."""
    full = section.full
    differences = [
        (section.label(ablation.right), ablation.difference) for ablation in section.ablations
    ]
    if full is None or not differences:
        return None

    def draw(axes: Axes) -> None:
        plots.draw_differences(
            axes, [label for label, _ in differences], [estimate for _, estimate in differences]
        )
        axes.set_xlabel(f"percentage points against {plots.clean_label(full.label)}")

    return make_chart(
        section.anchor,
        "ablation",
        "Effect of each stage",
        f"Accuracy with one stage switched off minus {full.label} "
        f"({show_percent(full.run.summary.accuracy.value)}), on the questions that both share. "
        "Pale bars: the 95 % interval of the difference includes zero.",
        draw,
        height=1.0 + 0.36 * len(differences),
        description="; ".join(
            f"{label}: {show_points(difference.value, signed=True)} points, "
            f"{show_points(difference.low, signed=True)} to "
            f"{show_points(difference.high, signed=True)}"
            for label, difference in differences
        ),
    )


def chart_recall(section: Section) -> Chart | None:
    """Recall of the gold tables among the first k retrieved."""
    featured = section.featured
    summary = featured.run.summary
    recall = [(k, found) for k, found in sorted(summary.recall_tables.items()) if found.count]
    if len(recall) < 2:
        return None
    counts, estimates = [k for k, _ in recall], [found for _, found in recall]

    def draw(axes: Axes) -> None:
        plots.draw_line(axes, counts, estimates, "recall of tables", 0)
        axes.set_xlabel("first k tables retrieved")
        axes.set_ylabel("recall of the gold tables")
        axes.set_xticks(counts)
        axes.set_ylim(top=1.02)
        plots.show_percents(axes, "y")

    extra = [
        f"{name}: {say_estimate(found)}"
        for name, found in (
            ("Questions with every gold table", summary.all_tables),
            ("recall of gold columns", summary.recall_columns),
        )
        if found is not None and found.count
    ]
    return make_chart(
        section.anchor,
        "recall",
        f"Retrieval recall, {featured.label}",
        f"{'; '.join(extra)}." if extra else "",
        draw,
        description="; ".join(f"at {k}: {show_percent(found.value)}" for k, found in recall),
    )


def chart_stages(section: Section) -> Chart | None:
    """The time of each stage."""
    featured = section.featured
    stages = timed_stages(featured, featured.run.summary.stages_ms)
    if not stages:
        return None
    own = featured.run.summary.own_ms
    texts = [f"{show_ms(stage.p50)} · {show_ms(stage.p95)}" for stage in stages.values()]

    def draw(axes: Axes) -> None:
        pairs = [(stage.p50 / 1000, stage.p95 / 1000) for stage in stages.values()]
        plots.draw_durations(axes, list(stages), pairs, texts)
        axes.set_xlabel("seconds")
        plots.show_legend(axes)

    return make_chart(
        section.anchor,
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
    for run in runs:
        for name, estimate in pick(run.run).items():
            counts[name] = max(counts.get(name, 0), estimate.count)
    if len(counts) < 2:
        return None
    largest = sorted(counts, key=lambda name: -counts[name])[:_MOST_ROWS]
    names = [name for name in counts if name in largest]

    def draw(axes: Axes) -> None:
        plots.draw_intervals(
            axes,
            [f"{plots.clean_label(name) or 'not given'} ({counts[name]})" for name in names],
            {run.label: [pick(run.run).get(name) for name in names] for run in reversed(runs)},
            (plots.BLUE, plots.ORANGE),
            spread=0.28 if len(runs) > 1 else 0.0,
        )
        axes.set_xlim(-0.02, 1.02)
        if len(runs) > 1:
            plots.show_legend(axes)

    left_out = len(counts) - len(names)
    return make_chart(
        section.anchor,
        title.replace(" ", "-"),
        f"Accuracy by {title}" + (f", {runs[0].label}" if len(runs) == 1 else ""),
        "In brackets: how many questions. Lines are 95 % intervals."
        + (f" Without the {left_out} smallest; the table has all." if left_out else ""),
        draw,
        height=1.0 + (0.42 if len(runs) > 1 else 0.34) * len(names),
        description="; ".join(
            f"{name}: {say_estimate(pick(runs[-1].run).get(name))}" for name in names
        ),
    )
