"""The report of a retrieval run: recall, times, and the tables that were missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evaluation.report.markdown import escape_markdown, render_failures, render_table
from evaluation.report.tables import ReportTable, build_table, show_estimate, show_ms, show_percent
from evaluation.retrieval.measures import RECALL_AT, RetrievalFigures, VariantFigures

_METHOD = (
    "All gold tables: the share of questions with every table of the gold query among those shown. "
    "Gold tables: the mean share of them. Gold columns: the mean share that pruning left, of those "
    "in shown gold tables. In brackets: 95 % bootstrap intervals over questions. Tokens are "
    "characters of the DDL form over three. Times are wall time, one question at a time, with the "
    "embedding of the question."
)
# Missed tables of each variant that are named, and questions of each.
_MOST_MISSED, _MOST_QUESTIONS = 20, 5


def build_tables(figures: RetrievalFigures) -> tuple[ReportTable, ...]:
    """Recall with the amount shown, recall among the first k, and the time of each stage."""
    recall: dict[str, Callable[[VariantFigures], str]] = {
        "questions": lambda variant: f"{variant.questions:,}",
        "all gold tables": lambda variant: show_estimate(variant.all_tables),
        "gold tables": lambda variant: show_estimate(variant.tables),
        "gold columns": lambda variant: show_estimate(variant.columns),
        "tables": lambda variant: f"{variant.shown_tables:.1f}",
        "columns": lambda variant: f"{variant.shown_columns:.0f}",
        "tokens": lambda variant: f"{variant.shown_tokens:,.0f}",
    }
    first = tuple(
        (variant.variant, *(show_percent(variant.recall_at[k].value) for k in RECALL_AT))
        for variant in figures.variants
    )
    stages = dict.fromkeys(stage for variant in figures.variants for stage in variant.stages_ms)
    times = tuple(
        (variant.variant, *(show_ms(variant.stages_ms.get(stage)) for stage in stages))
        for variant in figures.variants
    )
    rows = [(variant.variant, variant) for variant in figures.variants]
    return (
        build_table("Recall", "variant", rows, recall),
        ReportTable(
            "Gold tables among the first k", ("variant", *(f"k={k}" for k in RECALL_AT)), first
        ),
        ReportTable("Time a question, p50 (p95)", ("variant", *stages), times),
    )


def render_report(title: str, figures: RetrievalFigures) -> str:
    """The report as Markdown, for a file."""
    return "\n".join(_render_lines(title, figures)) + "\n"


def _render_lines(title: str, figures: RetrievalFigures) -> Iterator[str]:
    yield from (f"# {escape_markdown(title)}", "", _METHOD, "")
    for table in build_tables(figures):
        yield from render_table(table)
    for variant in figures.variants:
        missed = sorted(variant.missed.items(), key=lambda found: (-len(found[1]), found[0]))
        rows = tuple(
            (table, f"{len(questions):,}", ", ".join(questions[:_MOST_QUESTIONS]))
            for table, questions in missed[:_MOST_MISSED]
        )
        if rows:
            columns = ("table", "questions", "for example")
            yield from render_table(ReportTable(f"Missed by {variant.variant}", columns, rows))
    failures = [("not counted", name, reason) for name, reason in figures.not_counted]
    failures += [
        ("error, counted as finding nothing", f"{variant.variant}, {name}", reason)
        for variant in figures.variants
        for name, reason in variant.errors
    ]
    yield from render_failures(failures)
