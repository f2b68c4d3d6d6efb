"""``quorumsql chat``: several questions in a row, and what was meant by the last answer."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from io import TextIOWrapper
from typing import Annotated

import typer

from nl2sql.errors import QuorumError
from quorumsql.contract import AnsweredResponse, QueryRequest, QueryResponse
from quorumsql.contract.history import DeletedResponse
from serve_app.cli.answers import build_rows, print_brief_answer, print_reasons
from serve_app.cli.app import print_error
from serve_app.cli.context import CliContext
from serve_app.cli.output import say
from serve_app.cli.service_or_process import (
    AnswerTextOption,
    DatabaseOption,
    InProcessOption,
    PrincipalOption,
    UrlOption,
    ask_showing_progress,
    open_client,
)
from serve_app.cli.terminal import CONSOLE
from serve_app.service.request_checks import NEW, read_session

COMMANDS: Mapping[str, str] = {
    "/sql": "the query of the last answer, to copy",
    "/why": "why this query won: candidates, values, stages",
    "/rows": "all rows of the last answer",
    "/new": "a new session: follow-ups no longer refer to what was asked",
    "/forget": "delete this session, and start a new one",
    "/help": "this list",
    "/exit": "leave; so does Ctrl-D",
}
"""What each command does."""

_KEYS = "Ctrl-R searches what was typed before. Ctrl-C stops a question."
_LEAVE = frozenset({"/exit", "/quit", "exit", "quit", "bye"})

Listen = Callable[[], str]
"""Gets the next line of whoever asks. Raises EOFError at the end, KeyboardInterrupt at Ctrl-C."""


def chat(
    context: typer.Context,
    session: Annotated[str, typer.Option(help="A session to continue; default: a new one.")] = "",
    database: DatabaseOption = None,
    url: UrlOption = "",
    as_: PrincipalOption = "",
    in_process: InProcessOption = False,
    answer_text: AnswerTextOption = None,
) -> None:
    """Ask several questions in a row; follow-ups like "and last year?" work. End with /exit."""
    cli: CliContext = context.obj
    first = QueryRequest(
        question="",
        database=database,
        session=read_session(session or NEW),
        answer_text=answer_text,
        trace=True,
    )
    with open_client(cli, database, url=url, principal=as_, in_process=in_process) as client:
        ask = partial(ask_showing_progress, client)
        Conversation(ask, client.delete_conversation, first, _listen).run()


def _listen() -> str:
    with suppress(ImportError):  # with it, input() edits lines and recalls them
        import readline  # noqa: F401
    # Bytes that are no text end no conversation. It can be set only before the first line is read.
    if isinstance(sys.stdin, TextIOWrapper) and sys.stdin.errors != "replace":
        sys.stdin.reconfigure(errors="replace")
    return input("? ")


@dataclass(eq=False, slots=True)
class Conversation:
    """Asks until ``listen`` raises EOFError, or a word to leave is said.

    ``first`` is the template of every request except its question; ``forget`` deletes a session.
    """

    ask: Callable[[QueryRequest], QueryResponse]
    forget: Callable[[str], DeletedResponse]
    first: QueryRequest
    listen: Listen
    _last: QueryResponse | None = field(default=None, init=False)

    def run(self) -> None:
        """The whole conversation."""
        say(f"Session {self.first.session}. Ask, or type /help.")
        while True:
            try:
                line = self.listen().strip()
            except KeyboardInterrupt:
                CONSOLE.print("\n[dim]Ctrl-D or /exit leaves.[/]")
                continue
            except EOFError:
                CONSOLE.print()
                return
            if line.lower() in _LEAVE:
                return
            if not line:
                continue
            try:
                self._react(line)
            except KeyboardInterrupt:
                CONSOLE.print("[yellow]Stopped.[/]")
            except QuorumError as error:
                print_error(error)

    def _react(self, line: str) -> None:
        """Executes a command, or asks. Raises QuorumError."""
        if not line.startswith("/"):
            self._ask(line)
            return
        commands = {
            "/sql": self._show_sql,
            "/why": self._show_reasons,
            "/rows": self._show_rows,
            "/new": self._renew,
            "/forget": self._forget,
        }
        command = commands.get(line.lower())
        if command is None:
            say(render_help())
        else:
            command()

    def _ask(self, question: str) -> None:
        start = time.perf_counter()
        self._last = self.ask(self.first.model_copy(update={"question": question}))
        print_brief_answer(self._last, seconds=time.perf_counter() - start)

    def _find_answer(self) -> AnsweredResponse | None:
        """The last answer if it has rows; says so if not."""
        if isinstance(self._last, AnsweredResponse):
            return self._last
        say("There is no answer with rows yet.")
        return None

    def _show_sql(self) -> None:
        if answer := self._find_answer():
            say(answer.sql)

    def _show_reasons(self) -> None:
        if self._last is None:
            say("There is no answer yet.")
        else:
            print_reasons(self._last)

    def _show_rows(self) -> None:
        if answer := self._find_answer():
            CONSOLE.print(build_rows(answer))

    def _renew(self) -> None:
        self.first = self.first.model_copy(update={"session": read_session(NEW)})
        say(f"Session {self.first.session}.")

    def _forget(self) -> None:
        forgotten = self.forget(self.first.session or "")
        say(f"Deleted {forgotten.questions} questions.")
        self._renew()


def render_help() -> str:
    """A line for each command, and the keys."""
    return "\n".join([*(f"{name:<8} {told}" for name, told in COMMANDS.items()), _KEYS])
