"""Which plots a section has."""

from __future__ import annotations

from evaluation.report.charts import build_charts
from evaluation.report.run import Run
from evaluation.report.sections import build_sections
from tests.evaluation.builders import build_record
from tests.evaluation.report.builders import build_rich_records, build_run


def titles(*runs: Run) -> list[str]:
    (section,) = build_sections(runs, ())
    return [chart.title for chart in build_charts(section)]


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
        "More candidates",
        "Risk and coverage",
        "Reliability of the confidence, K=4",
        "Retrieval recall, K=4",
        "Time by stage, K=4",
        "Accuracy by difficulty",
        "Accuracy by database",
        "Accuracy by words in the question",
    ]


def test_a_curve_needs_two_numbers_of_candidates() -> None:
    assert "More candidates" not in titles(build_run("plain", baseline="plain"), build_run("K=4"))


def test_an_ablation_is_drawn_as_the_difference_to_all_stages() -> None:
    full = build_run("all stages", *build_rich_records(4, right=8), k=4)
    less = build_run("without bm25", *build_rich_records(4, right=3), k=4)
    (section,) = build_sections([full, less], ())
    chart = next(each for each in build_charts(section) if each.title.startswith("What each"))
    assert "without bm25" in chart.svg
    assert "without bm25: \N{MINUS SIGN}50.0 points" in chart.svg
    assert "all stages (80.0" in chart.caption


def test_a_section_in_which_nothing_counts_is_drawn_all_the_same() -> None:
    failing = build_record("q1", gold_error="the database is missing: no file")
    runs = [build_run(variant, failing) for variant in ("K=1", "K=4")]
    assert titles(*runs) == ["Accuracy, oracle and a random sample", "More candidates"]


def test_a_chart_says_what_it_shows_without_being_seen() -> None:
    (section,) = build_sections([build_run("K=1"), build_run("K=2")], ())
    for chart in build_charts(section):
        assert 'role="img"' in chart.svg
        assert f'aria-label="{chart.title}.' in chart.svg
        assert "K=2" in chart.svg
