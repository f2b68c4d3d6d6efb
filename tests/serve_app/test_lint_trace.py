"""What of lint crosses HTTP: rule, severity and message of every finding."""

from __future__ import annotations

from nl2sql.answers import Trace
from nl2sql.rendering import build_trace
from nl2sql.types import Assessment, Candidate, Finding, GuardedQuery, Ranking
from tests.fakes import build_question

FINDING = Finding("limit_without_order", "warning", "LIMIT without ORDER BY.")


def test_the_trace_tells_what_a_rule_found() -> None:
    sql = "SELECT 1 LIMIT 1"
    verdict = GuardedQuery("shop", sql, ())
    ranking = Ranking((Assessment(Candidate("c1", sql), verdict, findings=(FINDING,)),))
    (candidate,) = build_trace(Trace(build_question(), ranking=ranking)).model_dump()["candidates"]
    assert candidate["findings"] == [
        {
            "rule": "limit_without_order",
            "severity": "warning",
            "message": "LIMIT without ORDER BY.",
        }
    ]
