"""Figures as tables, and in the report."""

from __future__ import annotations

import re

from evaluation.report import render_markdown
from evaluation.retrieval.measures import summarize
from evaluation.retrieval.records import MissedTable
from evaluation.retrieval.report_section import build_section, build_tables, describe_scope
from tests.evaluation.retrieval.builders import build_finding, build_manifest, build_record

MISSED = (MissedTable(table="s.lines", namesake="t.li|nes"),)
RECORDS = [
    build_record("q1", build_finding("s.orders", "s.lines")),
    build_record("q1s", build_finding("s.orders", missed=MISSED)),
    build_record("q2", build_finding(), gold_error="no file", findings={}),
]
MANIFEST = build_manifest("q1", "q1s", "q2", split="dev", one_database=True, sample=2)


def test_every_table_has_figures() -> None:
    tables = build_tables(summarize(MANIFEST, RECORDS))
    assert [table.title for table in tables] == [
        "Recall",
        "Gold tables among the first k",
        "Time a question, p50 (p95)",
        "Missed by full",
    ]
    for table in tables:
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_page_says_what_was_asked_and_what_was_not_counted() -> None:
    section = build_section(MANIFEST, summarize(MANIFEST, RECORDS))
    page = render_markdown([], [], [section])
    assert "## Retrieval: shop" in page
    assert "split dev" in page
    assert "- not counted: q2: no file" in page
    assert "t.li\\|nes" in page


def test_what_people_wrote_stays_text_and_charts_are_drawn_where_something_counts() -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    manifest = build_manifest("q1", benchmark=hostile, revision=hostile)
    records = [build_record("q1", build_finding(), gold_error=hostile, findings={})]
    section = build_section(manifest, summarize(manifest, records), "retrieval-0")
    assert section.charts == ()
    assert not re.search(r"(?<!\\)<", render_markdown([], [], [section]))
    (chart,) = build_section(MANIFEST, summarize(MANIFEST, RECORDS), "retrieval-0").charts
    assert chart.name == "retrieval-0-first-tables"


def test_the_scope_is_one_sentence() -> None:
    assert describe_scope(build_manifest("q1")) == "1 questions, embedder fake."
