"""The page's data: what it holds, how large it is, and that it cannot break out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.report.questions import build_questions, dump_for_script, find_status
from evaluation.report.sections import build_sections
from evaluation.runs.records import CandidateRecord, Preview, QuestionRecord
from tests.evaluation.builders import build_record
from tests.evaluation.report.builders import HOSTILE, build_rich_records, build_run

RIGHT = CandidateRecord(id="c2", sql="SELECT 1", correct=True)


def build(*records: QuestionRecord) -> dict[str, Any]:
    return build_questions(build_sections([build_run("K=1", *records)], ()))


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({}, "right"),
        ({"correct": False}, "wrong"),
        ({"correct": False, "candidates": (RIGHT,)}, "missed"),
        ({"correct": False, "outcome": "refused"}, "refused"),
        ({"correct": False, "outcome": "error"}, "error"),
        ({"correct": False, "gold_error": "timeout"}, "uncounted"),
    ],
)
def test_the_end_of_a_question(values: dict[str, Any], status: str) -> None:
    assert find_status(build_record(**values)) == status


def test_json_cannot_end_its_script_and_reads_back_as_it_was() -> None:
    value = {"sql": f"{HOSTILE} <!-- <script> ]]> &amp; \u2028 é 表"}
    text = dump_for_script(value)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == value


def test_what_repeats_is_stored_once() -> None:
    runs = [build_run(f"K={k}", *build_rich_records(k)) for k in (1, 2, 4)]
    data = build_questions(build_sections(runs, ()))
    assert len(data["answers"]) == 30
    assert len(data["questions"]) == 10
    assert data["texts"].count("SELECT 1 ") == 1


def test_questions_of_two_benchmarks_are_kept_apart() -> None:
    runs = [build_run(benchmark="one"), build_run(benchmark="other", name="other")]
    data = build_questions(build_sections(runs, ()))
    assert len(data["questions"]) == 4


def test_cells_are_text_or_null_and_large_results_are_cut() -> None:
    row = tuple(range(100))
    wide = Preview(
        columns=tuple(f"c{at}" for at in row), rows=((None, True, "x" * 500, *row[3:]),) * 50
    )
    data = build(build_record(result=wide))
    result = data["results"][data["answers"][0]["result"]]
    assert result["rows"][0][:2] == [None, "true"]
    assert len(result["rows"][0][2]) < 100
    assert (len(result["rows"]), len(result["rows"][0]), result["columnsInAll"]) == (10, 12, 100)


def test_no_number_that_json_lacks_reaches_the_page() -> None:
    odd = Preview(columns=("n",), rows=((float("nan"),), (float("inf"),)))
    assert "NaN" in dump_for_script(build(build_record(gold_result=odd)))


def test_the_trace_with_its_prompt_stays_out() -> None:
    record = build_record(trace={"prompt": "the whole schema"})
    assert "the whole schema" not in dump_for_script(build(record))


def test_two_hundred_questions_in_four_runs_of_eight_candidates_are_a_few_megabytes() -> None:
    def build_large(run: int) -> tuple[QuestionRecord, ...]:
        rows = tuple(tuple(f"{run} value {at}" for at in range(6)) for _ in range(10))
        return tuple(
            build_record(
                f"q{number}",
                result=Preview(columns=tuple("abcdef"), rows=rows, rows_in_all=10),
                candidates=tuple(
                    CandidateRecord(id=f"c{at}", sql=f"SELECT {run} {number} {at} {'x' * 300}")
                    for at in range(8)
                ),
            )
            for number in range(200)
        )

    runs = [build_run(f"K={run}", *build_large(run)) for run in (1, 2, 4, 8)]
    text = dump_for_script(build_questions(build_sections(runs, ())))
    assert len(text) < 4_000_000
