"""The gate of an exam: verdicts with their reasons, the kept file, and what counts as worse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.metrics.gate import GateReport, compare_with_kept
from evaluation.metrics.verdicts import Verdict, find_verdict
from evaluation.runs.kept_results import keep_result, read_kept, write_kept
from evaluation.runs.records import CandidateRecord, QuestionRecord
from nl2sql.errors import SettingsError
from tests.evaluation.builders import build_record

COUNT = "SELECT count(*) FROM orders"
FOUND = {"tables": [{"table": "sales.orders"}]}


def build_wrong(name: str = "q1", *, outcome: str = "answered", **overrides: Any) -> QuestionRecord:
    """A record whose only candidate is ``COUNT``, and wrong."""
    candidates = (CandidateRecord(id="c1", sql=COUNT, group=0),)
    values = {"sql": COUNT, "trace": FOUND, "candidates": candidates, **overrides}
    return build_record(name, outcome=outcome, correct=False, **values)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (build_record(), Verdict("right")),
        (build_record(gold_error="deleted"), Verdict("not judged", "deleted")),
        (build_wrong(outcome="error", reason="broken"), Verdict("error", "broken")),
        (build_wrong(outcome="refused", reason="secret"), Verdict("refused", "secret")),
        (
            build_wrong(candidates=(CandidateRecord(id="c1", sql="SELECT 1", correct=True),)),
            Verdict("lost by the vote"),
        ),
        (
            build_wrong(
                outcome="clarify",
                candidates=(CandidateRecord(id="c1", sql="SELECT 1", correct=True),),
            ),
            Verdict("asked back with a right candidate"),
        ),
        (
            build_wrong(gold="SELECT count(*) FROM returns"),
            Verdict("table not found", "returns"),
        ),
        # Retrieval found it; no candidate read it.
        (
            build_wrong(
                gold="SELECT count(*) FROM returns",
                trace={"tables": [{"table": "sales.returns"}]},
            ),
            Verdict("no candidate right"),
        ),
        (
            build_wrong(gold=f"{COUNT} WHERE city = 'Ayr'", question="How many from Ayr?"),
            Verdict("value not found", "city: Ayr"),
        ),
        (
            build_wrong(gold=f"{COUNT} WHERE status = 'CXL'", question="How many are void?"),
            Verdict("definition missing", "status: CXL"),
        ),
        (
            build_wrong(gold="SELECT sum(amt * (1 - disc)) AS x FROM orders ORDER BY x"),
            Verdict("definition missing", "amt, disc"),
        ),
        (build_wrong(gold="SELECT DISTINCT FROM orders"), Verdict("no candidate right")),
    ],
)
def test_a_verdict_says_why(record: QuestionRecord, expected: Verdict) -> None:
    assert find_verdict(record, "postgres") == expected


# -- the gate --------------------------------------------------------------------------------------

NAMES = [f"q{number}" for number in range(40)]


def compare(before: list[QuestionRecord], now: list[QuestionRecord]) -> GateReport:
    kept = [keep_result(record, "postgres") for record in before]
    return compare_with_kept("kept.jsonl", kept, "run", now, "postgres")


def build_run(*wrong: str) -> list[QuestionRecord]:
    return [build_wrong(name) if name in wrong else build_record(name) for name in NAMES]


@pytest.mark.parametrize(
    ("before", "now", "passed"),
    [
        ((), (), True),
        ((), NAMES[:3], True),
        ((), NAMES[:4], False),
        (NAMES[:2], NAMES[2:6], True),
        (NAMES, NAMES[:20], True),
    ],
)
def test_a_loss_beyond_its_interval_fails(before: list[str], now: list[str], passed: bool) -> None:
    assert compare(build_run(*before), build_run(*now)).passed is passed


def test_lost_and_won_questions_are_named_with_both_verdicts() -> None:
    report = compare(
        build_run("q1"),
        [build_wrong("q0", outcome="refused", reason="secret"), *build_run()[1:]],
    )
    assert [(each.id, each.before, each.now, each.why) for each in report.lost] == [
        ("q0", "right", "refused", "secret")
    ]
    assert [(each.id, each.before, each.now) for each in report.won] == [
        ("q1", "no candidate right", "right")
    ]


def test_a_question_whose_right_query_fails_now_does_not_pass_unseen() -> None:
    report = compare(build_run(), [build_record("q0", gold_error="gone"), *build_run()[1:]])
    assert (report.passed, [each.why for each in report.unjudged]) == (False, ["gone"])
    # It was so before: nothing is worse.
    assert compare([build_record("q0", gold_error="gone"), *build_run()[1:]], build_run()).passed


def test_nothing_compared_is_not_passed() -> None:
    with pytest.raises(SettingsError, match="share no question"):
        compare(build_run(), [build_record("new")])


def test_another_query_with_the_same_verdict_is_counted() -> None:
    changed = [build_record("q0", sql="SELECT 2 - 1"), *build_run()[1:]]
    assert compare(build_run(), changed).rewritten == 1


def test_the_kept_file_has_no_question_query_or_value(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    with pytest.raises(SettingsError, match="no kept results"):
        read_kept(path)
    record = build_wrong(
        gold=f"{COUNT} WHERE city = 'Ayr'", question="How many from Ayr?", confidence=0.12345
    )
    kept = (keep_result(record, "postgres"), keep_result(build_record("q2", sql=""), "postgres"))
    write_kept(path, kept)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"id": "q1", "verdict": "value not found", "confidence": 0.123, "sql": kept[0].sql},
        {"id": "q2", "verdict": "right", "confidence": 0.0, "sql": ""},
    ]
    assert read_kept(path) == kept
    assert len(kept[0].sql) == 12
    path.write_text("{}\n")
    with pytest.raises(SettingsError, match="cannot be read"):
        read_kept(path)
