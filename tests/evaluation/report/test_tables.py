"""Figures as cells."""

from __future__ import annotations

from evaluation.figures import Estimate
from evaluation.pairing import compare_runs
from evaluation.report.cells import Cell, show_estimate, show_p_value, show_points
from evaluation.report.sections import build_sections
from evaluation.report.tables import (
    build_accuracy_table,
    build_comparison_table,
    build_detail_tables,
    build_outcome_table,
)
from tests.evaluation.builders import build_record
from tests.evaluation.report.builders import build_rich_records, build_run


def test_an_estimate_shows_its_interval_and_nothing_over_no_question() -> None:
    assert show_estimate(Estimate(0.5, 0.25, 0.75, 8)).detail == "25.0 to 75.0"
    assert show_estimate(Estimate(0.0, 0.0, 0.0, 0)) == Cell("\N{EN DASH}")
    assert show_estimate(None) == Cell("\N{EN DASH}")


def test_points_have_a_true_minus_and_no_negative_zero() -> None:
    assert show_points(-0.03, signed=True) == "\N{MINUS SIGN}3.0"
    assert show_points(-0.0001, signed=True) == "0.0"


def test_a_p_value_is_never_shown_as_zero() -> None:
    assert show_p_value(1e-9) == "< 0.001"


def test_the_best_run_is_marked_among_several() -> None:
    right, wrong = build_record("q1"), build_record("q1", correct=False)
    runs = [build_run("K=1", wrong), build_run("K=2", right)]
    (section,) = build_sections(runs, ())
    assert [row[1].best for row in build_accuracy_table(section).rows] == [False, True]
    (alone,) = build_sections(runs[1:], ())
    assert not build_accuracy_table(alone).rows[0][1].best


def test_columns_without_any_figure_are_left_out() -> None:
    (untimed,) = build_sections([build_run()], ())
    assert "R-VES" not in build_accuracy_table(untimed).columns
    (timed,) = build_sections([build_run("K=1", build_record(r_ves=1.25))], ())
    table = build_accuracy_table(timed)
    assert table.rows[0][table.columns.index("R-VES")].text == "125.0"


def test_gold_that_fails_is_counted_where_outcomes_are() -> None:
    run = build_run("K=1", build_record("q1"), build_record("q2", gold_error="timeout"))
    (section,) = build_sections([run], ())
    table = build_outcome_table(section)
    row = dict(zip(table.columns, (cell.text for cell in table.rows[0]), strict=True))
    assert (row["questions"], row["counted"], row["gold failing"]) == ("2", "1", "1")


def test_runs_side_by_side() -> None:
    left = build_run("K=1", build_record("q1"), build_record("q2", correct=False))
    right = build_run("K=4", build_record("q1", correct=False), build_record("q2"))
    comparison = compare_runs(left.name, left.records, right.name, right.records)
    (section,) = build_sections([left, right], [comparison])
    table = build_comparison_table(section)
    assert table is not None
    row = dict(zip(table.columns, (cell.text for cell in table.rows[0]), strict=True))
    assert row["runs"] == "K=4 against K=1"
    assert (row["gained"], row["lost"], row["McNemar p"]) == ("1", "1", "1.00")


def test_details_are_there_where_there_is_something_to_tell() -> None:
    (rich,) = build_sections([build_run("K=4", *build_rich_records(4))], ())
    titles = [table.title for table in build_detail_tables(rich)]
    assert titles == [
        "Accuracy by difficulty",
        "Accuracy by database",
        "Accuracy by words in the question",
        "pass@k",
        "Retrieval recall",
        "Confidence",
        "Repairs",
        "Stages, p50 (p95)",
    ]
    for table in build_detail_tables(rich):
        assert all(len(row) == len(table.columns) for row in table.rows)
