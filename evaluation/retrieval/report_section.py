"""Builds the report's section of a retrieval run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.report import RetrievalSection
from evaluation.report.charts import Chart, draw_lines
from evaluation.retrieval.measures import RECALL_AT, RetrievalFigures
from evaluation.retrieval.records import RetrievalManifest
from evaluation.retrieval.tables import METHOD, build_tables, describe_scope, name_way

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LINES = 6


def build_section(
    manifest: RetrievalManifest, figures: RetrievalFigures, name: str = ""
) -> RetrievalSection:
    """The section; charts only with a ``name``, which is unique in the report."""
    machine = ", ".join(f"{key} {value}" for key, value in manifest.machine.items())
    drawn = name and any(variant.questions for variant in figures.variants)
    return RetrievalSection(
        title=f"Retrieval: {manifest.benchmark}",
        scope=describe_scope(manifest),
        method=METHOD,
        tables=build_tables(figures),
        charts=(_chart_curve(figures, name),) if drawn else (),
        problems=(
            *(("not counted", name, reason) for name, reason in figures.not_counted),
            *(
                ("error, counted as finding nothing", f"{name_way(variant)}, {name}", reason)
                for variant in figures.variants
                for name, reason in variant.errors
            ),
        ),
        facts=(("machine", machine), ("revision", manifest.revision or "unknown")),
    )


def _chart_curve(figures: RetrievalFigures, name: str) -> Chart:
    """Recall of gold tables among the first k, of as many variants as there are colours."""

    def draw(axes: Axes) -> None:
        shown = {
            name_way(variant): [variant.recall_at[k] for k in RECALL_AT]
            for variant in figures.variants[:_MOST_LINES]
        }
        draw_lines(axes, RECALL_AT, shown)
        axes.set(xlabel="first k tables", ylabel="gold tables among them", xticks=RECALL_AT)

    return Chart(
        f"{name}-first-tables",
        "Gold tables among the first k",
        "Beyond the budget: the same search with twice the tables.",
        draw,
    )
