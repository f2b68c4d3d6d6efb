"""``quorumsql chat``: the loop, its words and its end."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from nl2sql.errors import Unavailable
from quorumsql.contract import (
    AnsweredResponse,
    QueryRequest,
    QueryResponse,
    RefusedResponse,
)
from quorumsql.contract.answers import ResultColumn, VerifiedResponse
from quorumsql.contract.history import DeletedResponse
from serve_app.cli.chat import Conversation, _listen
from tests.conftest import ROOT
from tests.serve_app.cli.conftest import Call


class Talk:
    """Somebody who says the lines, and a service that answers or raises."""

    def __init__(
        self,
        *lines: str | BaseException,
        error: BaseException | None = None,
        answer: AnsweredResponse | None = None,
    ) -> None:
        self._answer = answer
        self._lines: Iterator[str | BaseException] = iter(lines)
        self._error = error
        self.asked: list[QueryRequest] = []
        self.forgotten: list[str] = []

    def listen(self) -> str:
        line = next(self._lines, EOFError())
        if isinstance(line, BaseException):
            raise line
        return line

    def ask(self, request: QueryRequest) -> QueryResponse:
        self.asked.append(request)
        if self._error is not None:
            raise self._error
        if self._answer is not None:
            return self._answer
        return RefusedResponse(
            question=request.question,
            database="shop",
            rewritten=f"{request.question} [whole]",
            code="off_topic",
            reason="Not [about] shops.",
            notes=["Alone."],
        )

    def forget(self, session: str) -> DeletedResponse:
        self.forgotten.append(session)
        return DeletedResponse(conversations=1, questions=3)

    def run(self) -> None:
        first = QueryRequest(question="", session="s", answer_text="rule")
        Conversation(self.ask, self.forget, first, self.listen).run()


def build_answer(*rows: list[object]) -> AnsweredResponse:
    """Cities and how many there are of something."""
    return AnsweredResponse(
        question="How many by city?",
        database="shop",
        sql="SELECT ':on:', count(*)",
        confidence=0.5,
        quorum=True,
        text="Most are in Łódź.",
        text_source="rule",
        columns=[ResultColumn(name="city", type="text"), ResultColumn(name="n", type="int8")],
        rows=[list(row) for row in rows],
        truncated=False,
        cut=[],
    )


def test_every_line_is_a_question_of_the_session(capsys: pytest.CaptureFixture[str]) -> None:
    somebody = Talk("How many?", "  ", "And in 2024? ")
    somebody.run()
    assert [(each.question, each.session, each.answer_text) for each in somebody.asked] == [
        ("How many?", "s", "rule"),
        ("And in 2024?", "s", "rule"),
    ]
    shown = capsys.readouterr().out
    assert "Understood as: And in 2024? [whole]" in shown
    assert "Not [about] shops." in shown
    assert "! Alone." in shown


def test_bytes_that_are_no_text_end_no_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BytesIO(b"Caf\xe9?\n" * 2), encoding="utf-8")
    )
    assert (_listen(), _listen()) == ("Caf\ufffd?",) * 2


@pytest.mark.parametrize("last", ["/exit", "QUIT", "bye", EOFError()])
def test_it_ends_when_told_so(last: str | BaseException) -> None:
    somebody = Talk("Q?", last, "never asked")
    somebody.run()
    assert [each.question for each in somebody.asked] == ["Q?"]


def test_a_fresh_start_is_another_session(capsys: pytest.CaptureFixture[str]) -> None:
    somebody = Talk("/new", "Q?", "/forget", "R?", "/what")
    somebody.run()
    first, second = (each.session for each in somebody.asked)
    assert len({"s", first, second}) == 3
    assert somebody.forgotten == [first]
    shown = capsys.readouterr().out
    assert "Deleted 3 questions." in shown
    assert shown.count("/forget") == 1


@pytest.mark.parametrize("error", [Unavailable("Down [now]."), KeyboardInterrupt()])
def test_what_goes_wrong_ends_the_question_not_the_talk(error: BaseException) -> None:
    somebody = Talk("Q?", KeyboardInterrupt(), "R?", error=error)
    somebody.run()
    assert [each.question for each in somebody.asked] == ["Q?", "R?"]


def test_the_last_answer_can_be_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    answer = build_answer(["Łódź", 12], ["Rome", 6])
    somebody = Talk("/sql", "/rows", "/why", "Q?", "/sql", "/rows", "/why", answer=answer)
    somebody.run()
    shown = capsys.readouterr().out
    assert shown.count("There is no answer") == 3
    assert "\nSELECT ':on:', count(*)\n" in shown
    assert "The service told no reasons." in shown
    assert "confidence 0.50, a quorum" in shown


def test_an_answer_is_told_in_words_and_by_whom_its_query_was_given(
    capsys: pytest.CaptureFixture[str],
) -> None:
    label = "Verified by mia [of sales] on 2026-03-01"
    given = VerifiedResponse(by="mia", at="2026-03-01T08:00:00+00:00", source="file", label=label)
    answer = build_answer(["Rome", 6])
    answer = answer.model_copy(update={"description": "shows city.", "verified": given})
    Talk("Q?", answer=answer).run()
    shown = capsys.readouterr().out
    assert "In words: shows city." in shown
    assert label in shown
    assert "confidence" not in shown


def test_all_rows_are_shown_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[list[object]] = [[f"city {number}", number] for number in range(60)]
    Talk("Q?", "/rows", answer=build_answer(*rows)).run()
    shown = capsys.readouterr().out
    assert "and 40 more" in shown
    assert "/rows shows all rows" in " ".join(shown.split())
    assert shown.count("city 59") == 1


def test_an_id_that_is_none_is_told(call: Call) -> None:
    code, _, error = call(ROOT / "quorumsql.yaml", "chat", "--session", "a b")
    assert code == 1
    assert "1 to 64 letters" in error
