"""The charts of a retrieval run: recall of each variant, and recall over k."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.report import plots
from evaluation.report.cells import show_percent
from evaluation.report.chart import Chart, make_chart, say_estimate
from evaluation.retrieval.measures import RECALL_AT, RetrievalFigures
from evaluation.retrieval.tables import name_way

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def build_charts(figures: RetrievalFigures, anchor: str) -> tuple[Chart, ...]:
    """All charts that there are figures for."""
    if not any(variant.questions for variant in figures.variants):
        return ()
    return (_chart_ways(figures, anchor), _chart_curve(figures, anchor))


def _chart_ways(figures: RetrievalFigures, anchor: str) -> Chart:
    """The recall of gold tables and columns by variant."""
    names = [name_way(variant) for variant in figures.variants]
    series = {
        "all gold tables": [variant.all_tables for variant in figures.variants],
        "gold tables": [variant.tables for variant in figures.variants],
        "gold columns": [variant.columns for variant in figures.variants],
    }

    def draw(axes: Axes) -> None:
        plots.draw_intervals(
            axes, names, series, (plots.BLUE, plots.VERMILLION, plots.GREY), spread=0.22
        )
        plots.show_legend(axes)

    return make_chart(
        anchor,
        "ways",
        "Recall of each variant",
        "All gold tables: the share of questions that got every table of the gold query. Lines are "
        "95 % intervals.",
        draw,
        height=1.0 + 0.52 * len(names),
        description="; ".join(
            f"{name}: all gold tables {say_estimate(variant.all_tables)}"
            for name, variant in zip(names, figures.variants, strict=True)
        ),
    )


def _chart_curve(figures: RetrievalFigures, anchor: str) -> Chart:
    """Recall of gold tables among the first k, of as many variants as there are colours."""
    shown = figures.variants[: len(plots.CYCLE)]

    def draw(axes: Axes) -> None:
        for at, variant in enumerate(shown):
            recall = [variant.recall_at[k] for k in RECALL_AT]
            plots.draw_line(axes, RECALL_AT, recall, name_way(variant), at, band=False)
        axes.set_xlabel("first k tables")
        axes.set_ylabel("gold tables among them")
        axes.set_xticks(RECALL_AT)
        axes.set_ylim(top=1.02)
        plots.show_percents(axes, "y")
        plots.show_legend(axes)

    return make_chart(
        anchor,
        "first-tables",
        "Gold tables among the first k",
        "Beyond the budget: the same search with twice the tables.",
        draw,
        description="; ".join(
            f"{name_way(variant)} at {RECALL_AT[-1]}: "
            f"{show_percent(variant.recall_at[RECALL_AT[-1]].value)}"
            for variant in shown
        ),
    )
