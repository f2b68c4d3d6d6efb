"""The report of a retrieval run: recall, times, and the tables that were missed."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.report.markdown import escape_markdown, render_failures, render_table
from evaluation.report.tables import ReportTable, show_estimate, show_ms, show_percent
from evaluation.retrieval.measures import RECALL_AT, RetrievalFigures

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
    recall = tuple(
        (
            variant.variant,
            f"{variant.questions:,}",
            show_estimate(variant.all_tables),
            show_estimate(variant.tables),
            show_estimate(variant.columns),
            f"{variant.shown_tables:.1f}",
            f"{variant.shown_columns:.0f}",
            f"{variant.shown_tokens:,.0f}",
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
    first = tuple(
        (variant.variant, *(show_percent(variant.recall_at[k].value) for k in RECALL_AT))
        for variant in figures.variants
    )
    stages = dict.fromkeys(stage for variant in figures.variants for stage in variant.stages_ms)
    times = tuple(
        (variant.variant, *(show_ms(variant.stages_ms.get(stage)) for stage in stages))
        for variant in figures.variants
    )
    return (
        ReportTable("Recall", columns, recall),
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
