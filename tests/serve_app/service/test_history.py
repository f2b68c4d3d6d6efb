"""Questions of sessions are handed to the history; a history that is away costs no answer."""

from __future__ import annotations

from nl2sql.answers import Answer, Answered, Trace
from nl2sql.errors import IndexUnavailable
from nl2sql.types import Principal, Question
from quorumsql.contract import QueryRequest
from serve_app.service.query_service import QueryService
from tests.fakes import build_result, build_settings

MIA = Principal("mia")


class Answerer:
    """Answers every question with one row."""

    async def answer(self, question: Question) -> Answer:
        return Answered("SELECT 1", build_result((1,)), 1.0, True, Trace(question))


class Kept:
    """A history that keeps what it is given, or raises."""

    def __init__(self, error: Exception | None = None) -> None:
        self.questions: list[Question] = []
        self._error = error

    async def record(self, question: Question, answer: Answer) -> None:
        if self._error is not None:
            raise self._error
        assert isinstance(answer, Answered)
        self.questions.append(question)


async def ask(history: Kept, session: str | None) -> Answer:
    service = QueryService(build_settings(), Answerer(), {}, history=history)
    return await service.query(QueryRequest(question="How many?", session=session), MIA)


async def test_a_question_of_a_session_is_kept() -> None:
    history = Kept()
    answer = await ask(history, "s")
    assert answer.trace.notes == ()
    (question,) = history.questions
    assert (question.text, question.session, question.principal) == ("How many?", "s", MIA)


async def test_a_question_without_a_session_is_not() -> None:
    history = Kept(AssertionError("It must not be kept."))
    assert isinstance(await ask(history, None), Answered)


async def test_an_answer_says_that_it_will_not_be_found() -> None:
    answer = await ask(Kept(IndexUnavailable("Down.")), "s")
    assert isinstance(answer, Answered)
    assert "will not be found" in answer.trace.notes[0]
