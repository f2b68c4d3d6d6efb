"""What an answer says of failed queries, and of the definitions that its query uses."""

from __future__ import annotations

import pytest

from nl2sql.answers import Answer, Answered, Clarify, Failed, Trace
from nl2sql.pipeline.conclusion import conclude, list_attempts, name_definitions
from nl2sql.pipeline.dialogue import Dialogue
from nl2sql.types import Candidate, Question, Ranking, Repair
from tests.fakes import (
    FakeGenerator,
    build_assessment,
    build_context,
    build_diagnostic,
    build_question,
    build_result,
    build_violation,
)
from tests.retrieval.semantics.files import GERMANS, REVENUE

REFUSED = build_assessment("c1", sql="SELECT x", verdict=build_violation())
BROKEN = build_assessment(
    candidate=Candidate("c1r", "SELECT y", 0, "repair", "c1"),
    diagnostic=build_diagnostic("it broke"),
)
WORKS = build_assessment("c2", rows=[(1,)])
REPAIRS = (
    Repair("c1", "x", "autocorrect", "failed", error_class="unknown_table"),
    Repair("c1r", "y", "none", "none", error_class="grouping"),
)


def test_every_failed_query_is_listed_with_its_class() -> None:
    attempts = list_attempts(Ranking((REFUSED, BROKEN, WORKS)), REPAIRS)
    assert [
        (attempt.sql, attempt.origin, attempt.cause, attempt.error_class) for attempt in attempts
    ] == [
        ("SELECT x", "sample", "It is refused.", "unknown_table"),
        ("SELECT y", "repair", "it broke", "grouping"),
    ]


def test_a_failure_says_what_went_wrong_and_what_to_do() -> None:
    answer = conclude(Ranking((REFUSED, BROKEN)), Trace(build_question(), repairs=REPAIRS))
    assert isinstance(answer, Failed)
    assert len(answer.attempts) == 2
    assert "2 queries" in answer.reason
    assert "What went wrong: unknown table (1), grouping (1). The first: It is" in answer.reason


def test_a_confidence_just_too_low_is_not_said_to_be_below_itself() -> None:
    ranking = Ranking((WORKS,), confidence=0.559, threshold=0.5599)
    answer = conclude(ranking, Trace(build_question()))
    assert isinstance(answer, Clarify)
    assert answer.reason.count("0.56") == 1


CONTEXT = build_context(definitions=(REVENUE, GERMANS))


def build_answer(*used: str, question: Question | None = None) -> Answered:
    """An answer whose winner uses these definitions."""
    winner = build_assessment(rows=((1,),), definitions=used)
    loser = build_assessment("c2", definitions=("revenue",))
    trace = Trace(
        question or build_question(),
        context=CONTEXT,
        ranking=Ranking((winner, loser), samples=2),
    )
    return Answered(winner.candidate.sql, build_result((1,)), 0.9, True, trace)


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        ((), ""),
        (("revenue",), "Revenue as defined in semantics.yaml."),
        (
            ("revenue", "German customers"),
            "Revenue and German customers as defined in semantics.yaml.",
        ),
    ],
)
async def test_the_text_says_what_the_query_uses(used: tuple[str, ...], expected: str) -> None:
    class Pipeline:
        async def answer(self, question: Question) -> Answer:
            return build_answer(*used, question=question)

    assert name_definitions(build_answer(*used)) == expected
    dialogue = Dialogue(Pipeline(), FakeGenerator())
    worded = await dialogue.answer(build_question(answer_text="rule"))
    assert isinstance(worded, Answered)
    assert worded.text == f"1 rows. {expected}".strip()
    # Nobody asked for a text.
    silent = await dialogue.answer(build_question())
    assert isinstance(silent, Answered)
    assert silent.text == ""
