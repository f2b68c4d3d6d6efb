"""Figures as cells."""

from __future__ import annotations

from evaluation.metrics.figures import Estimate
from evaluation.metrics.pairing import compare_runs
from evaluation.report.cells import Cell, show_estimate, show_p_value, show_points
from evaluation.report.tables import (
    Table,
    build_ablation_table,
    build_accuracy_table,
    build_comparison_table,
    build_detail_tables,
    build_outcome_table,
    build_repair_table,
    build_selection_table,
    build_speed_table,
    build_stage_table,
    list_pairs,
)
from evaluation.runs.records import CandidateRecord, RepairRecord
from tests.evaluation.builders import build_record
from tests.evaluation.report.builders import build_rich_records, build_run, build_section


def read_row(table: Table | None, number: int = 0) -> dict[str, str]:
    """The texts of a row by column."""
    assert table is not None
    return dict(zip(table.columns, (cell.text for cell in table.rows[number]), strict=True))


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
    wrong, right = build_run("K=1", build_record(correct=False)), build_run("K=2", build_record())
    table = build_accuracy_table(build_section(wrong, right))
    assert [row[1].best for row in table.rows] == [False, True]
    assert not build_accuracy_table(build_section(right)).rows[0][1].best


def test_a_run_over_fewer_questions_is_not_the_best() -> None:
    more = build_run("K=1", build_record("q1"), build_record("q2", correct=False))
    table = build_accuracy_table(build_section(more, build_run("K=2", build_record("q1"))))
    assert [row[1].best for row in table.rows] == [True, False]


def test_clarify_has_a_column_where_there_is_any() -> None:
    group = CandidateRecord(id="c1", sql="SELECT 1", group=0, correct=True)
    unsure = build_record(outcome="clarify", correct=False, confidence=0.3, candidates=(group,))
    row = read_row(build_accuracy_table(build_section(build_run("K=4", unsure))))
    assert row["accuracy"].startswith("0.0")
    assert row["with clarify counted"].startswith("100.0")
    assert row["oracle gap"] == "0.0"
    sure = build_accuracy_table(build_section(build_run("K=4")))
    assert "with clarify counted" not in sure.columns


def test_no_speed_is_shown_where_samples_came_from_a_file() -> None:
    section = build_section(
        build_run("K=1", *build_rich_records(1)),
        build_run("K=4", *build_rich_records(4), samples="kept.samples"),
    )
    timed, untimed = (read_row(build_speed_table(section), number) for number in range(2))
    assert timed["questions / min"] == "10.0"
    assert untimed["questions / min"] == untimed["s / question, p50"] == "\N{EN DASH}"
    # The pipeline's own time was spent all the same.
    assert untimed["without the model, p50"] == timed["without the model, p50"]
    stages = build_stage_table(section)
    assert stages is not None
    shown = {row[0].text: [cell.text for cell in row[1:]] for row in stages.rows}
    assert shown["generate"] == ["904 ms", "\N{EN DASH}"]
    assert shown["execute"] == ["3.0 ms", "3.0 ms"]


def test_gold_that_fails_is_counted_where_outcomes_are() -> None:
    run = build_run("K=1", build_record("q1"), build_record("q2", gold_error="timeout"))
    row = read_row(build_outcome_table(build_section(run)))
    assert (row["questions"], row["counted"], row["gold failing"]) == ("2", "1", "1")


def test_runs_side_by_side() -> None:
    left = build_run("K=1", build_record("q1"), build_record("q2", correct=False))
    right = build_run("K=4", build_record("q1", correct=False), build_record("q2"))
    comparison = compare_runs(left.name, left.records, right.name, right.records)
    row = read_row(build_comparison_table(build_section(left, right, comparisons=[comparison])))
    assert row["runs"] == "K=4 against K=1"
    assert (row["gained"], row["lost"], row["McNemar p"]) == ("1", "1", "1.00")


def test_ablations_stand_apart_from_run_against_run() -> None:
    right = [build_record(name) for name in ("q1", "q2")]
    wrong = [build_record(name, correct=False) for name in ("q1", "q2")]
    full = build_run("all stages", *right, k=4)
    less = build_run("without bm25", *wrong, k=4)
    none = build_run("without glosses", *right, k=4)
    elsewhere = build_run("without vote", build_record("q9"), k=4)
    comparison = compare_runs(full.name, full.records, less.name, less.records)
    section = build_section(full, none, less, elsewhere, comparisons=[comparison])
    table = build_ablation_table(section)
    assert table is not None
    assert table.title == "Each stage switched off, against all stages"
    # The largest loss first; a run without shared questions is not compared.
    assert [row[0].text for row in table.rows] == ["without bm25", "without glosses"]
    row = read_row(table)
    assert (row["shared"], row["difference"]) == ("2", "\N{MINUS SIGN}100.0 pts")
    assert build_comparison_table(section) is None
    assert [pair.right for pair in list_pairs(section)] == ["without bm25", "without glosses"]


def test_the_vote_is_compared_with_first_sample_and_majority() -> None:
    candidates = (
        CandidateRecord(id="c2", sql="SELECT 2", samples=1, group=0, correct=True),
        CandidateRecord(id="c1", sql="SELECT 1", samples=3, group=1),
    )
    run = build_run("K=4", build_record("q1", k=4, candidates=candidates))
    plain = build_run("plain", baseline="plain")
    table = build_selection_table(build_section(plain, run))
    row = read_row(table)
    assert table is not None
    assert len(table.rows) == 1
    assert (row["run"], row["better of both"], row["gained"]) == ("K=4", "majority", "1")
    assert build_selection_table(build_section(plain)) is None


def test_repairs_are_counted_by_rule_and_class_of_error_too() -> None:
    names = {"method": "autocorrect", "rules": ("join_keys",), "error_class": "unknown_column"}
    repair = RepairRecord(
        candidate="c1", cause="no such column", outcome="fixed", correct_after=True, **names
    )
    (record, *_) = build_rich_records(4)
    run = build_run("K=4", record.model_copy(update={"repairs": (repair,)}))
    table = build_repair_table(build_section(run))
    assert table is not None
    assert [row[0].text.partition(": ")[2] for row in table.rows] == [
        "all",
        "autocorrect",
        "rule join_keys",
        "error unknown_column",
    ]


def test_details_are_there_where_there_is_something_to_tell() -> None:
    rich = build_section(build_run("K=4", *build_rich_records(4)))
    titles = [table.title for table in build_detail_tables(rich)]
    assert titles == [
        "Accuracy by difficulty",
        "Accuracy by database",
        "Accuracy by words in the question",
        "Confidence",
        "Repairs",
        "Stages, p50 (p95)",
    ]
    for table in build_detail_tables(rich):
        assert all(len(row) == len(table.columns) for row in table.rows)
