"""Which runs stand together, in what order, and what is said about them."""

from __future__ import annotations

from evaluation.metrics.pairing import compare_runs
from evaluation.report.sections import build_sections
from tests.evaluation.builders import build_record
from tests.evaluation.report.builders import build_run, build_section


def test_the_baseline_comes_first_then_k_ascending_then_ablations() -> None:
    plain = build_run("plain", baseline="plain")
    section = build_section(
        build_run("without bm25", k=4), build_run("K=8"), build_run("K=4"), plain
    )
    assert [run.label for run in section.runs] == ["plain", "K=4", "K=8", "without bm25"]
    assert [system.label for system in section.systems] == ["plain", "K=4", "K=8"]
    assert [run.label for run in section.curve] == ["K=4", "K=8"]


def test_runs_with_evidence_stand_apart() -> None:
    runs = [build_run(evidence=False), build_run(evidence=True), build_run(benchmark="other")]
    titles = [section.title for section in build_sections(runs, ())]
    assert titles == ["shop, without evidence", "shop, with evidence", "other"]


def test_runs_of_the_same_variant_are_told_apart_by_their_names() -> None:
    section = build_section(build_run("K=1", name="one"), build_run("K=1", name="other"))
    assert [run.label for run in section.runs] == ["K=1 (one)", "K=1 (other)"]


def test_the_featured_run_is_the_most_accurate_of_the_pipeline() -> None:
    right, wrong = build_record("q1"), build_record("q1", correct=False)
    plain = build_run("plain", right, baseline="plain")
    more = [build_run("K=4", right), build_run("K=8", right)]
    assert build_section(plain, build_run("K=2", wrong), *more).featured.label == "K=4"


def test_a_run_over_fewer_questions_is_not_featured() -> None:
    wrong = build_record("q2", correct=False)
    more = build_run("K=2", build_record("q1"), wrong)
    section = build_section(more, build_run("K=4", build_record("q1")))
    assert section.featured.label == "K=2"


def test_ablations_are_compared_with_the_run_with_every_stage_and_their_k() -> None:
    one, four = build_run("K=1"), build_run("K=4")
    every, less = build_run("all stages", k=4), build_run("without bm25", k=4)
    full = build_section(one, four, every, less).full
    assert full is not None
    assert full.label == "all stages"
    named_by_k = build_section(one, four, less).full
    assert named_by_k is not None
    assert named_by_k.label == "K=4"
    assert build_section(one, four, every).full is None
    assert build_section(less).full is None


def test_problems_are_named_by_reason_with_the_run_to_look_at() -> None:
    missing = build_record("q1", gold_error="the database is missing: no file")
    raised = build_record("q2", outcome="error", reason="PromptTooLong", correct=False)
    runs = [build_run("K=1", missing, build_record("q2")), build_run("K=4", missing, raised)]
    section = build_section(*runs)
    gold, error = section.problems
    assert (gold.kind, gold.questions, gold.runs) == ("not counted", ("q1",), ("K=1", "K=4"))
    assert "missing" in gold.reason
    assert (error.kind, error.questions, error.runs) == ("error", ("q2",), ("K=4",))


def test_notes_name_unfinished_runs_and_different_questions() -> None:
    whole = build_run("K=1")
    unfinished = build_run("K=4", question_ids=("q1", "q2", "q3"))
    section = build_section(whole, unfinished)
    assert section.notes[0] == "K=4 is unfinished: 2 of 3 questions."
    assert "do not cover the same questions" in section.notes[1]
    alone = build_section(whole)
    assert alone.notes == ()


def test_a_note_says_why_no_speed_is_shown() -> None:
    section = build_section(build_run("K=1"), build_run("K=4", samples="kept.samples"))
    (note,) = section.notes
    assert note.startswith("No speed is shown for K=4: samples were kept in a file")


def test_a_comparison_stands_in_the_section_of_its_runs() -> None:
    left, right = build_run("K=1"), build_run("K=4")
    elsewhere = build_run("K=1", benchmark="other", name="elsewhere")
    comparison = compare_runs(left.name, left.records, right.name, right.records)
    sections = build_sections([left, right, elsewhere], [comparison])
    assert [len(section.comparisons) for section in sections] == [1, 0]
