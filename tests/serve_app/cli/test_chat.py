"""``quorumsql chat``: the loop, its words, and its end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nl2sql.errors import Unavailable
from quorumsql.contract import QueryRequest, QueryResponse, RefusedResponse
from quorumsql.wire import Export, NoRows
from serve_app.cli.chat import talk
from serve_app.http.formats import Format
from tests.serve_app.cli.test_cli import run


class Talk:
    """Somebody who says the lines, and a service that answers or raises."""

    def __init__(self, *lines: str | BaseException, error: BaseException | None = None) -> None:
        self._lines: Iterator[str | BaseException] = iter(lines)
        self._error = error
        self.asked: list[QueryRequest] = []
        self.forgotten: list[str] = []
        self.noted: list[QueryResponse] = []

    def listen(self) -> str:
        line = next(self._lines, EOFError())
        if isinstance(line, BaseException):
            raise line
        return line

    def ask(self, request: QueryRequest) -> QueryResponse:
        self.asked.append(request)
        if self._error is not None:
            raise self._error
        return RefusedResponse(
            question=request.question,
            database="shop",
            rewritten=f"{request.question} [whole]",
            code="off_topic",
            reason="Not [about] shops.",
            notes=["Alone."],
        )

    def export(self, request: QueryRequest, format_: Format) -> Export | NoRows:
        raise AssertionError("chat exports nothing")

    def forget(self, session: str) -> int:
        self.forgotten.append(session)
        return 3

    def run(self) -> None:
        first = QueryRequest(question="", session="s", answer_text="rule")
        talk(self, first, self.listen, self.noted.append)


def test_every_line_is_a_question_of_the_session(capsys: pytest.CaptureFixture[str]) -> None:
    somebody = Talk("How many?", "  ", "And in 2024? ")
    somebody.run()
    assert [(each.question, each.session, each.answer_text) for each in somebody.asked] == [
        ("How many?", "s", "rule"),
        ("And in 2024?", "s", "rule"),
    ]
    assert len(somebody.noted) == 2
    shown = capsys.readouterr().out
    assert "Understood as: And in 2024? [whole]" in shown
    assert "Not [about] shops." in shown
    assert "! Alone." in shown


@pytest.mark.parametrize("last", ["/exit", "QUIT", "bye", EOFError(), KeyboardInterrupt()])
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
    assert shown.count("/forget to delete") == 2


@pytest.mark.parametrize("error", [Unavailable("Down [now]."), KeyboardInterrupt()])
def test_what_goes_wrong_ends_the_question_not_the_talk(error: BaseException) -> None:
    somebody = Talk("Q?", "R?", error=error)
    somebody.run()
    assert [each.question for each in somebody.asked] == ["Q?", "R?"]
    assert somebody.noted == []


def test_the_commands_are_there() -> None:
    for command in (("chat", "--help"), ("sessions", "clear", "--help")):
        code, output = run(*command)
        assert code == 0, output


def test_an_id_that_is_none_is_told() -> None:
    code, output = run("chat", "--session", "a b")
    assert code == 1
    assert "1 to 64 letters" in output
    assert "Traceback" not in output
