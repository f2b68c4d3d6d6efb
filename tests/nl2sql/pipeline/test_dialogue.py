"""A question within its session: completed, answered, put in words, remembered."""

from __future__ import annotations

import pytest

from nl2sql.answers import Answer, Answered, Trace
from nl2sql.errors import IndexUnavailable, Unavailable
from nl2sql.pipeline.dialogue import Dialogue
from nl2sql.types import Question, Rewriting, Turn
from tests.fakes import FakeConversations, FakeGenerator, build_question, build_result

EARLIER = Turn("How many orders came in 2023?", "answered", "SELECT 2023")
UNSURE = Turn("What was spent?", "clarify", interpretations=("SELECT 1", "SELECT 2"))
WHOLE = "How many orders came in 2024?"
COMPLETED = {"And in 2024?": Rewriting(WHOLE, "model", "", 50, 5)}


class FakePipeline:
    """Answers every question with the rows given."""

    def __init__(self, *rows: tuple[object, ...]) -> None:
        self._rows = rows or ((1,),)
        self.questions: list[Question] = []

    async def answer(self, question: Question) -> Answer:
        """The answer; its SQL names the question."""
        self.questions.append(question)
        result = build_result(*self._rows)
        return Answered(f"SELECT '{question.text}'", result, 0.9, True, Trace(question))


def ask(text: str, session: str = "s", **overrides: object) -> Question:
    return build_question(text=text, session=session, **overrides)


async def test_without_a_session_nothing_is_read_or_kept() -> None:
    sessions, generator = FakeConversations(EARLIER), FakeGenerator(rewritings=COMPLETED)
    dialogue = Dialogue(FakePipeline(), generator, sessions)
    answer = await dialogue.answer(ask("And in 2024?", session=""))
    assert isinstance(answer, Answered)
    assert (answer.trace.asked, answer.text) == ("", "")
    assert generator.recalled == []
    assert sessions.turns == {"s": (EARLIER,)}


async def test_a_follow_up_is_answered_as_the_whole_question_and_kept_as_such() -> None:
    sessions, generator = FakeConversations(EARLIER), FakeGenerator(rewritings=COMPLETED)
    pipeline = FakePipeline()
    answer = await Dialogue(pipeline, generator, sessions).answer(ask("And in 2024?"))
    assert [question.text for question in pipeline.questions] == [WHOLE]
    assert generator.recalled == [(EARLIER,)]
    assert answer.trace.asked == "And in 2024?"
    assert answer.trace.question.text == WHOLE
    assert answer.trace.notes == ()
    (timing, *_) = answer.trace.timings
    assert (timing.stage, timing.prompt_tokens, timing.completion_tokens) == ("rewrite", 50, 5)
    assert sessions.turns["s"][1:] == (Turn(WHOLE, "answered", f"SELECT '{WHOLE}'"),)


async def test_what_could_not_be_completed_is_asked_as_a_part() -> None:
    """No verified query of the same words is its answer."""
    for method, continues in (("kept", True), ("", False)):
        pipeline = FakePipeline()
        generator = FakeGenerator(rewritings={"Suppliers": Rewriting(method=method)})
        await Dialogue(pipeline, generator, FakeConversations(EARLIER)).answer(ask("Suppliers"))
        assert [question.continues for question in pipeline.questions] == [continues]


async def test_an_interpretation_that_was_chosen_is_run() -> None:
    chosen = {"the second": Rewriting(UNSURE.question, "chosen", "SELECT 2")}
    pipeline = FakePipeline()
    dialogue = Dialogue(pipeline, FakeGenerator(rewritings=chosen), FakeConversations(UNSURE))
    answer = await dialogue.answer(ask("the second"))
    (asked,) = pipeline.questions
    assert (asked.text, asked.chosen_sql) == (UNSURE.question, "SELECT 2")
    assert answer.trace.rewriting.method == "chosen"


async def test_a_question_with_a_picked_query_is_not_rewritten() -> None:
    generator, pipeline = FakeGenerator(rewritings=COMPLETED), FakePipeline()
    dialogue = Dialogue(pipeline, generator, FakeConversations(EARLIER))
    await dialogue.answer(ask("And in 2024?", chosen_sql="SELECT 9"))
    (asked,) = pipeline.questions
    assert (asked.text, asked.chosen_sql) == ("And in 2024?", "SELECT 9")
    assert generator.recalled == []


@pytest.mark.parametrize(
    "sessions",
    [
        FakeConversations(EARLIER, error=IndexUnavailable("Down.")),
        FakeConversations(EARLIER, error=Unavailable("The retriever does not answer.")),
        None,
    ],
    ids=["store", "replica", "none"],
)
async def test_if_sessions_cannot_be_read_the_question_is_answered_alone(
    sessions: FakeConversations | None,
) -> None:
    answer = await Dialogue(FakePipeline(), FakeGenerator(), sessions).answer(ask("How many?"))
    assert isinstance(answer, Answered)
    (note,) = answer.trace.notes
    assert "answered alone" in note


async def test_a_turn_that_cannot_be_stored_is_reported() -> None:
    class ReadOnly(FakeConversations):
        async def record(self, question: Question, answer: Answer) -> None:
            raise IndexUnavailable("Read-only.")

    answer = await Dialogue(FakePipeline(), FakeGenerator(), ReadOnly()).answer(ask("Q?"))
    (note,) = answer.trace.notes
    assert "cannot be written" in note


@pytest.mark.parametrize("source", ["rule", "model"])
@pytest.mark.parametrize("session", ["", "s"])
async def test_an_answer_is_put_in_words_where_asked(source: str, session: str) -> None:
    question = build_question(answer_text=source, session=session)
    dialogue = Dialogue(FakePipeline((1,), (2,)), FakeGenerator(), FakeConversations())
    answer = await dialogue.answer(question)
    assert isinstance(answer, Answered)
    assert (answer.text, answer.text_source) == ("2 rows.", source)
    timing = answer.trace.timings[-1]
    assert (timing.stage, timing.prompt_tokens) == ("words", 100)
