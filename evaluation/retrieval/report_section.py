"""Builds the report's section of a retrieval run."""

from __future__ import annotations

from evaluation.report.retrieval_section import RetrievalSection
from evaluation.retrieval.charts import build_charts
from evaluation.retrieval.measures import RetrievalFigures
from evaluation.retrieval.records import RetrievalManifest
from evaluation.retrieval.tables import METHOD, build_tables, describe_scope, name_way


def build_section(
    manifest: RetrievalManifest, figures: RetrievalFigures, anchor: str = "", *, drawn: bool
) -> RetrievalSection:
    """The section; charts only if ``drawn``, since drawing takes seconds."""
    machine = ", ".join(f"{key} {value}" for key, value in manifest.machine.items())
    return RetrievalSection(
        title=f"Retrieval: {manifest.benchmark}",
        anchor=anchor,
        scope=describe_scope(manifest),
        method=METHOD,
        tables=build_tables(figures),
        charts=build_charts(figures, anchor) if drawn else (),
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
