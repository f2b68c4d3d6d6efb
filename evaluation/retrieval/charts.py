"""The plots of a retrieval run: what each way finds, and how soon."""

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
    """All that there are figures for."""
    if not any(variant.questions for variant in figures.variants):
        return ()
    return (_chart_ways(figures, anchor), _chart_curve(figures, anchor))


def _chart_ways(figures: RetrievalFigures, anchor: str) -> Chart:
    """What is shown of the gold's tables and columns, way by way."""
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
        "What each way to search finds",
        "All gold tables: the share of questions that got every table of the gold query. Lines are "
        "95 % intervals.",
        draw,
        height=1.0 + 0.52 * len(names),
        description="; ".join(
            f"{name}: all gold tables {say_estimate(each.all_tables)}"
            for name, each in zip(names, figures.variants, strict=True)
        ),
    )


def _chart_curve(figures: RetrievalFigures, anchor: str) -> Chart:
    """Recall of the gold's tables over the first k, of as many ways as colours can tell apart."""
    shown = figures.variants[: len(plots.CYCLE)]

    def draw(axes: Axes) -> None:
        for at, each in enumerate(shown):
            recall = [each.recall_at[k] for k in RECALL_AT]
            plots.draw_line(axes, RECALL_AT, recall, name_way(each), at, band=False)
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
            f"{name_way(each)} at {RECALL_AT[-1]}: "
            f"{show_percent(each.recall_at[RECALL_AT[-1]].value)}"
            for each in shown
        ),
    )
