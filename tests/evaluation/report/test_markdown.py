"""The report as Markdown."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from evaluation.metrics.pairing import compare_runs
from evaluation.report import render_markdown
from evaluation.report.markdown import escape_markdown
from evaluation.runs.records import CandidateRecord
from tests.evaluation.builders import build_record
from tests.evaluation.report.builders import HOSTILE, build_rich_records, build_run


def test_every_table_has_as_many_cells_in_each_row_as_in_its_head() -> None:
    runs = [
        build_run("K=1", *build_rich_records(1, text=HOSTILE), benchmark=HOSTILE),
        build_run("K=4", *build_rich_records(4, right=3, text=HOSTILE), benchmark=HOSTILE),
    ]
    comparison = compare_runs("K=1", runs[0].records, "K=4", runs[1].records)
    lines = render_markdown(runs, [comparison]).split("\n")
    widths = [len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0 for line in lines]
    tables = [pair for pair in pairwise(widths) if all(pair)]
    assert tables
    assert all(above == below for above, below in tables)


def test_what_people_wrote_is_neither_markdown_nor_html() -> None:
    runs = [build_run("K=1", build_record(gold_error=HOSTILE), benchmark=f"# {HOSTILE}")]
    text = render_markdown(runs, [])
    before_settings = text.partition("<details>")[0]
    assert not re.search(r"(?<!\\)<", before_settings)
    assert not re.search(r"(?<!\\)!?\[", before_settings)


def test_lines_within_a_name_do_not_end_a_row() -> None:
    assert escape_markdown("a\n\n# b\r\n| c") == r"a \# b \| c"


def test_failures_are_named() -> None:
    missing = build_record("q7", gold_error="the database is missing: no file")
    raised = build_record("q8", outcome="error", reason="PromptTooLong", correct=False)
    text = render_markdown([build_run("K=1", missing, raised)], [])
    assert "| not counted | the database is missing: no file | 1 | q7 | K=1 |" in text
    assert "| error | PromptTooLong | 1 | q8 | K=1 |" in text


def test_comparisons_name_the_questions_that_flipped() -> None:
    left = build_run("K=1", build_record("q1", correct=False), build_record("q2"))
    right = build_run("K=4", build_record("q1"), build_record("q2", correct=False))
    comparison = compare_runs("K=1", left.records, "K=4", right.records)
    assert "| K=4 against K=1 | q1 | q2 |" in render_markdown([left, right], [comparison])


def test_what_went_wrong_is_shown_with_its_queries() -> None:
    fence = "SELECT 2 ```\n# out"
    candidates = (CandidateRecord(id="c1", sql="SELECT 1", correct=True),)
    wrong = build_record("q1", sql=fence, correct=False, candidates=candidates)
    lost = build_record("q2", outcome="refused", reason="off_topic", sql="", correct=False)
    text = render_markdown([build_run("K=1", wrong, lost, build_record("q3"))], [])
    text = text.partition("### Not right: K=1")[2].partition("## How")[0]
    assert "q1 (shop), wrong, a candidate was right: How many q1?" in text
    assert f"````sql\n{fence}\n````" in text
    assert "q2 (shop), refused: off\\_topic: How many q2?" in text
    assert "q3" not in text


def test_settings_cannot_end_their_block() -> None:
    run = build_run("K=1", configuration={"text": "x\n```\n# out\n````"})
    text = render_markdown([run], [])
    assert "\n`````yaml\n" in text
    assert text.rstrip().endswith("`````\n\n</details>")


def test_half_a_surrogate_pair_can_be_written() -> None:
    run = build_run("K=1", build_record(gold_error="a\ud800b"))
    assert "a?b" in render_markdown([run], []).encode("utf-8").decode("utf-8")


def test_a_report_needs_a_run() -> None:
    with pytest.raises(ValueError, match="needs a run"):
        render_markdown([], [])
