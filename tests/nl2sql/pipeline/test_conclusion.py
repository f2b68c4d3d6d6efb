"""Where nothing worked, every query is told, with its class and an advice."""

from __future__ import annotations

from nl2sql.answers import Failed, Trace
from nl2sql.pipeline.conclusion import conclude, describe_attempts, list_attempts
from nl2sql.types import Candidate, Ranking, Repair
from tests.fakes import build_assessment, build_diagnostic, build_question, build_violation

REFUSED = build_assessment("c1", sql="SELECT x", verdict=build_violation())
BROKEN = build_assessment(
    candidate=Candidate("c1r", "SELECT y", 0, "repair", "c1"),
    diagnostic=build_diagnostic("it broke"),
)
WORKS = build_assessment("c2", rows=[(1,)])
REPAIRS = (
    Repair("c1", "x", "autocorrect", "failed", error_class="unknown_table", suggestion="Use one."),
    Repair("c1r", "y", "none", "none", error_class="grouping", suggestion="Group."),
)


def test_every_failed_query_is_listed_with_its_class() -> None:
    attempts = list_attempts(Ranking((REFUSED, BROKEN, WORKS)), REPAIRS)
    assert [
        (attempt.sql, attempt.origin, attempt.cause, attempt.error_class) for attempt in attempts
    ] == [
        ("SELECT x", "sample", "It is refused.", "unknown_table"),
        ("SELECT y", "repair", "it broke", "grouping"),
    ]


def test_without_repairs_the_causes_are_told_all_the_same() -> None:
    attempts = list_attempts(Ranking((REFUSED,)), ())
    assert (attempts[0].cause, attempts[0].error_class) == ("It is refused.", "")
    assert describe_attempts(attempts) == ""


def test_a_failure_says_what_went_wrong_and_what_to_do() -> None:
    answer = conclude(Ranking((REFUSED, BROKEN)), Trace(build_question(), repairs=REPAIRS))
    assert isinstance(answer, Failed)
    assert len(answer.attempts) == 2
    assert "2 queries" in answer.reason
    assert "What went wrong: unknown table (1), grouping (1). Use one." in answer.reason
