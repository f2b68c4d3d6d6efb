"""The report's section of a retrieval run: its tables, and recall over k as a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.report import RetrievalSection
from evaluation.report.cells import Cell, show_estimate, show_ms, show_percent
from evaluation.report.charts import Chart, draw_lines
from evaluation.report.tables import Table
from evaluation.retrieval.measures import RECALL_AT, RetrievalFigures, VariantFigures
from evaluation.retrieval.records import RetrievalManifest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LINES = 6
EXAMPLES = "for example"
"""The last column of a table of causes, which holds long lists of names."""

METHOD = (
    "All gold tables: the share of questions with every table of the gold query among those shown. "
    "Gold tables: the mean share of them. Gold columns: the mean share that pruning left, of those "
    "in shown gold tables. In brackets: 95 % bootstrap intervals over questions. Tokens are "
    "characters of the DDL form over three. Recall beyond the budget is that of the same search "
    "with twice the budget. Times are wall time, warm, one question at a time; the question's "
    "embedding is a stage of its own, and no other stage waits for it. On a busy machine wall "
    "times are upper bounds; the processor time of this process leaves the database's share out."
)


def build_recall_table(figures: RetrievalFigures) -> Table:
    """Recall and the amount shown, one row for each variant."""
    rows = tuple(
        (
            Cell(variant.variant),
            Cell(f"{variant.questions:,}"),
            show_estimate(variant.all_tables),
            show_estimate(variant.tables),
            show_estimate(variant.columns),
            Cell(f"{variant.shown_tables:.1f}"),
            Cell(f"{variant.shown_columns:.0f}"),
            Cell(f"{variant.shown_tokens:,.0f}"),
        )
        for variant in figures.variants
    )
    columns = (
        "variant",
        "questions",
        "all gold tables",
        "gold tables",
        "gold columns",
        "tables",
        "columns",
        "tokens",
    )
    return Table("Recall", columns, rows)


def build_curve_table(figures: RetrievalFigures) -> Table:
    """The mean share of gold tables among the first k."""
    rows = tuple(
        (
            Cell(variant.variant),
            *(Cell(show_percent(variant.recall_at[k].value)) for k in RECALL_AT),
        )
        for variant in figures.variants
    )
    return Table("Gold tables among the first k", ("variant", *(f"k={k}" for k in RECALL_AT)), rows)


def build_time_table(figures: RetrievalFigures) -> Table:
    """The time of each stage, p50 and p95."""
    stages = list(
        dict.fromkeys(stage for variant in figures.variants for stage in variant.stages_ms)
    )
    rows = tuple(
        (
            Cell(variant.variant),
            *(
                Cell(show_ms(times.p50), show_ms(times.p95))
                if (times := variant.stages_ms.get(stage))
                else Cell("")
                for stage in stages
            ),
        )
        for variant in figures.variants
    )
    return Table("Time a question, p50 (p95)", ("variant", *stages), rows)


def build_cause_table(variant: VariantFigures) -> Table | None:
    """The causes of missed tables, most frequent first; None if no table was missed."""
    rows = tuple(
        (
            Cell(missed.text),
            Cell(f"{missed.tables:,}"),
            Cell(f"{missed.questions:,}"),
            Cell("; ".join(f"{question}: {table}" for question, table in missed.examples)),
        )
        for missed in variant.missed
    )
    columns = ("cause", "tables", "questions", EXAMPLES)
    return Table(f"Missed by {variant.variant}", columns, rows) if rows else None


def build_tables(figures: RetrievalFigures) -> tuple[Table, ...]:
    """All tables that there are figures for."""
    tables = (
        build_recall_table(figures),
        build_curve_table(figures),
        build_time_table(figures),
        *(build_cause_table(variant) for variant in figures.variants),
    )
    return tuple(table for table in tables if table is not None)


def describe_scope(manifest: RetrievalManifest) -> str:
    """The questions and conditions of the run in one line."""
    parts = [
        f"{len(manifest.question_ids):,} questions",
        f"split {manifest.split}" if manifest.split else "",
        f"sampled with seed {manifest.sample_seed}" if manifest.sample else "",
        "with evidence" if manifest.evidence else "",
        "the question's schema is not given" if manifest.one_database else "",
        f"embedder {manifest.embedder}",
    ]
    return ", ".join(part for part in parts if part) + "."


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
                ("error, counted as finding nothing", f"{variant.variant}, {name}", reason)
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
            variant.variant: [variant.recall_at[k] for k in RECALL_AT]
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
