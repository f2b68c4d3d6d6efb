"""What of repairs crosses HTTP: attempts in the trace, and in the body where nothing worked."""

from __future__ import annotations

from nl2sql.answers import Attempt, Failed, Trace
from nl2sql.rendering import build_response, build_trace
from nl2sql.types import Repair
from tests.fakes import build_question

REPAIR = Repair(
    "c1",
    "There is no column x.",
    "model",
    "fixed",
    "SELECT y",
    rules=(),
    error_class="unknown_column",
    attempt=2,
    suggestion="Use columns.",
    risks=("x_number → x_name",),
)


def test_the_trace_tells_rules_class_attempt_and_risks() -> None:
    (repair,) = build_trace(Trace(build_question(), repairs=(REPAIR,))).model_dump()["repairs"]
    assert repair == {
        "candidate": "c1",
        "cause": "There is no column x.",
        "method": "model",
        "outcome": "fixed",
        "sql": "SELECT y",
        "rules": [],
        "error_class": "unknown_column",
        "attempt": 2,
        "risks": ["x_number → x_name"],
    }


def test_a_failure_lists_its_attempts() -> None:
    attempt = Attempt("SELECT x", "sample", "There is no column x.", "unknown_column", "Use y.")
    body = build_response(
        Failed("None.", Trace(build_question()), (attempt,)), trace=False
    ).model_dump()
    assert body["outcome"] == "failed"
    assert body["attempts"] == [
        {
            "sql": "SELECT x",
            "origin": "sample",
            "error": "There is no column x.",
            "error_class": "unknown_column",
            "suggestion": "Use y.",
        }
    ]
