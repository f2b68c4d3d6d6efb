"""Why an answer is not right, by its outcome and by what no candidate had."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.metrics.verdicts import Verdict, find_verdict
from evaluation.runs.records import CandidateRecord
from tests.evaluation.builders import build_record

COUNT = "SELECT count(*) FROM orders"
RETURNS = "SELECT count(*) FROM returns"
RIGHT = (CandidateRecord(id="c1", sql=COUNT), CandidateRecord(id="c2", sql=RETURNS, correct=True))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"correct": True}, Verdict("right")),
        ({"gold_error": "deleted"}, Verdict("not judged", "deleted")),
        ({"outcome": "error", "reason": "broken"}, Verdict("error", "broken")),
        ({"outcome": "refused", "reason": "secret"}, Verdict("refused", "secret")),
        ({"candidates": RIGHT}, Verdict("lost by the vote")),
        (
            {"candidates": RIGHT, "outcome": "clarify"},
            Verdict("asked back with a right candidate"),
        ),
        ({"gold": RETURNS}, Verdict("table not found", "returns")),
        # Retrieval found it; no candidate read it.
        (
            {"gold": RETURNS, "trace": {"tables": [{"table": "sales.returns"}]}},
            Verdict("no candidate right"),
        ),
        (
            {"gold": f"{COUNT} WHERE city = 'Ayr'", "question": "How many from Ayr?"},
            Verdict("value not found", "city: Ayr"),
        ),
        (
            {"gold": f"{COUNT} WHERE status = 'CXL'", "question": "How many are void?"},
            Verdict("definition missing", "status: CXL"),
        ),
        (
            {"gold": "SELECT sum(amt * (1 - disc)) AS x FROM orders ORDER BY x"},
            Verdict("definition missing", "amt, disc"),
        ),
        ({"gold": "SELECT DISTINCT FROM orders"}, Verdict("no candidate right")),
    ],
)
def test_a_verdict_says_why(values: dict[str, Any], expected: Verdict) -> None:
    asked = {"correct": False, "candidates": RIGHT[:1], **values}
    assert find_verdict(build_record(**asked), "postgres") == expected
