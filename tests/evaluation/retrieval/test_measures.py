"""Figures from records."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.retrieval.measures import find_cause, recall, summarize
from evaluation.retrieval.records import MissedTable
from tests.evaluation.retrieval.builders import build_finding, build_manifest, build_record

LINES = MissedTable(table="s.lines", rank=3)
WHOLE = build_finding("s.orders", "s.lines")
HALF = build_finding("s.orders", missed=(LINES,), deeper=("s.x", "s.lines"))


def test_recall_over_what_is_shown_and_what_comes_behind() -> None:
    record = build_record("q1", HALF)
    assert recall(record, HALF) == 0.5
    assert [recall(record, HALF, k) for k in (1, 2, 3)] == [0.5, 0.5, 1.0]


def test_the_figures_of_a_variant() -> None:
    pruned = build_finding("s.orders", "s.lines", missed_columns=("s.orders.total",))
    records = [build_record("q1", WHOLE), build_record("q2", HALF), build_record("q3", pruned)]
    (figures,) = summarize(build_manifest("q1", "q2", "q3"), records).variants
    assert figures.questions == 3
    assert figures.all_tables.value == pytest.approx(2 / 3)
    assert figures.tables.value == pytest.approx(2.5 / 3)
    # Of q2, only the columns of the table that is shown count.
    assert figures.columns.value == pytest.approx((1 + 1 + 2 / 3) / 3)
    assert figures.shown_tables == pytest.approx(5 / 3)
    assert figures.stages_ms["embed the question"].p95 == 5.0
    assert figures.stages_ms["all but embedding"].p50 == 3.0


def test_misses_are_sorted_by_cause() -> None:
    namesake = MissedTable(table="s.lines", namesake="t.lines")
    records = [
        build_record(f"q{at}", build_finding("s.orders", missed=(missed,)))
        for at, missed in enumerate((LINES, LINES, namesake))
    ]
    (figures,) = summarize(build_manifest("q0", "q1", "q2"), records).variants
    assert [(missed.cause, missed.tables) for missed in figures.missed] == [
        ("just_outside", 2),
        ("namesake", 1),
    ]
    assert figures.missed[1].examples == (("q2", "s.lines (found: t.lines)"),)


def test_what_no_figure_can_count_is_named() -> None:
    lost = build_record("q1", WHOLE, gold_error="no file", findings={})
    figures = summarize(build_manifest("q1"), [lost])
    assert figures.not_counted == (("q1", "no file"),)
    assert figures.variants == ()


def test_a_question_that_raised_found_nothing() -> None:
    missed = (MissedTable(table="s.lines"), MissedTable(table="s.orders"))
    failed = build_finding(missed=missed, error="refused", stages_ms={})
    (figures,) = summarize(build_manifest("q1"), [build_record("q1", failed)]).variants
    assert figures.all_tables.value == 0.0
    assert figures.errors == (("q1", "refused"),)
    assert figures.missed == ()


@pytest.mark.parametrize(
    ("facts", "cause"),
    [
        ({"namesake": "b.orders", "rank": 13, "neighbour": "a.lines"}, "namesake"),
        ({"rank": 24, "neighbour": "a.lines"}, "just_outside"),
        ({"rank": 25, "neighbour": "a.lines"}, "key_away"),
        ({"schema_shown": True}, "no_word"),
        ({"shared_words": ("order",)}, "other_schema"),
        ({"shared_words": ("order",), "schema_shown": True}, "outranked"),
    ],
)
def test_a_miss_has_one_cause(facts: dict[str, Any], cause: str) -> None:
    assert find_cause(MissedTable(table="a.orders", **facts), budget=12).name == cause
