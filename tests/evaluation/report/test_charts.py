"""Which plots a section has."""

from __future__ import annotations

from evaluation.report.chart import Chart
from evaluation.report.charts import build_charts
from evaluation.report.run import Run
from evaluation.runs.records import CandidateRecord
from tests.evaluation.builders import build_record
from tests.evaluation.report.builders import build_rich_records, build_run, build_section


def build_run_charts(*runs: Run) -> tuple[Chart, ...]:
    return build_charts(build_section(*runs))


def titles(*runs: Run) -> list[str]:
    return [chart.title for chart in build_run_charts(*runs)]


def find_chart(title: str, *runs: Run) -> Chart:
    return next(chart for chart in build_run_charts(*runs) if chart.title.startswith(title))


def test_a_run_without_anything_more_than_answers_has_no_plot() -> None:
    assert titles(build_run()) == []


def test_everything_there_is_to_see_of_a_curve() -> None:
    runs = [
        build_run("plain", baseline="plain"),
        build_run("K=1", *build_rich_records(1)),
        build_run("K=4", *build_rich_records(4, right=7)),
    ]
    assert titles(*runs) == [
        "Accuracy, oracle and a random sample",
        "Accuracy over K",
        "Accuracy and coverage",
        "Reliability of the confidence, K=4",
        "Retrieval recall, K=4",
        "Time by stage, K=4",
        "Accuracy by difficulty",
        "Accuracy by database",
        "Accuracy by words in the question",
    ]


def test_a_curve_needs_two_numbers_of_candidates() -> None:
    assert "Accuracy over K" not in titles(build_run("plain", baseline="plain"), build_run("K=4"))


def test_a_curve_is_of_runs_that_differ_in_k_alone() -> None:
    runs = [
        build_run("K=1", revision="old"),
        build_run("K=2", revision="new"),
        build_run("K=4", revision="new"),
    ]
    section = build_section(*runs)
    assert [run.label for run in section.curve] == ["K=2", "K=4"]
    assert "K=1 is not in the curve over K" in section.notes[0]
    assert "K=1" not in find_chart("Accuracy over K", *runs).svg


def test_a_curve_shows_what_simpler_choices_give() -> None:
    group = CandidateRecord(id="c1", sql="SELECT 1", samples=2, group=0, correct=True)
    runs = [build_run(f"K={k}", build_record(k=k, candidates=(group,))) for k in (1, 2)]
    chart = find_chart("Accuracy over K", *runs)
    for label in ("vote", "majority", "first sample", "oracle"):
        assert f">{label}<" in chart.svg


def test_the_threshold_is_marked_where_accuracy_meets_coverage() -> None:
    chart = find_chart("Accuracy and coverage", build_run("K=4", *build_rich_records(4)))
    # Confidences are 0.0 to 0.9, the threshold is 0.5; of those five one is right.
    assert "from 0.50 up 50.0" in chart.svg
    assert "answered, 20.0" in chart.svg


def test_no_time_of_the_model_is_drawn_where_samples_came_from_a_file() -> None:
    run = build_run("K=4", *build_rich_records(4), samples="kept.samples")
    chart = find_chart("Time by stage", run)
    assert "execute" in chart.svg
    assert "generate" not in chart.svg


def test_an_ablation_is_drawn_as_the_difference_to_all_stages() -> None:
    full = build_run("all stages", *build_rich_records(4, right=8), k=4)
    less = build_run("without bm25", *build_rich_records(4, right=3), k=4)
    chart = find_chart("Effect of", full, less)
    assert "without bm25" in chart.svg
    assert "without bm25: \N{MINUS SIGN}50.0 points" in chart.svg
    assert "all stages (80.0" in chart.caption


def test_a_section_in_which_nothing_counts_is_drawn_all_the_same() -> None:
    failing = build_record("q1", gold_error="the database is missing: no file")
    runs = [build_run(variant, failing) for variant in ("K=1", "K=4")]
    assert titles(*runs) == ["Accuracy, oracle and a random sample", "Accuracy over K"]


def test_a_chart_says_what_it_shows_without_being_seen() -> None:
    for chart in build_run_charts(build_run("K=1"), build_run("K=2")):
        assert 'role="img"' in chart.svg
        assert f'aria-label="{chart.title}.' in chart.svg
        assert "K=2" in chart.svg
