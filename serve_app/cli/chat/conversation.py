"""The loop of questions and commands over one session at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from nl2sql.errors import QuorumError
from quorumsql.contract import AnsweredResponse, QueryRequest, QueryResponse
from serve_app.cli.answers import build_rows, print_brief_answer, print_chart, print_reasons
from serve_app.cli.charts import choose_chart
from serve_app.cli.chat.export import export_rows
from serve_app.cli.chat.slash_commands import render_help
from serve_app.cli.pager import show_paged
from serve_app.cli.service_or_process import Answering
from serve_app.cli.terminal import CONSOLE, ERRORS
from serve_app.service.sessions import NEW, read_session

_LEAVE = frozenset({"/exit", "/quit", "exit", "quit", "bye"})
_MOST_REMEMBERED = 20


class Listener(Protocol):
    """Gets the lines of whoever asks."""

    def listen(self) -> str:
        """The next line. Raises EOFError or KeyboardInterrupt if there is none."""
        ...

    def list_history(self) -> Sequence[str]:
        """What was typed before, oldest first."""
        ...

    def clear_history(self) -> None:
        """Deletes what was typed before."""
        ...


class PipeListener:
    """Lines of standard input, which have no history."""

    def listen(self) -> str:
        """See Listener."""
        return CONSOLE.input("[bold]?[/] ")

    def list_history(self) -> Sequence[str]:
        """See Listener."""
        return ()

    def clear_history(self) -> None:
        """See Listener."""


class Conversation:
    """Asks until the listener raises EOFError or KeyboardInterrupt, or a word to leave is said."""

    def __init__(
        self,
        answering: Answering,
        first: QueryRequest,
        listener: Listener,
        note: Callable[[QueryResponse], None],
        *,
        charted: bool = True,
    ) -> None:
        """``first`` is the template of every request except its question; ``note`` gets answers."""
        self._answering = answering
        self._first = first
        self._listener = listener
        self._note = note
        self._charted = charted
        self._session = first.session or ""
        self._last: QueryResponse | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "/sql": self._show_sql,
            "/why": self._show_reasons,
            "/rows": self._show_rows,
            "/chart": self._show_chart,
            "/export": self._export,
            "/new": self._renew,
            "/forget": self._forget,
            "/history": self._show_history,
        }

    def run(self) -> None:
        """The whole conversation."""
        CONSOLE.print(
            f"Session {self._session}. Ask, or type /help.", highlight=False, markup=False
        )
        while True:
            try:
                line = self._listener.listen().strip()
            except (EOFError, KeyboardInterrupt):
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
                ERRORS.print(
                    f"error: {error}",
                    style="bold red",
                    highlight=False,
                    markup=False,
                    soft_wrap=True,
                )

    def _react(self, line: str) -> None:
        """Executes a command, or asks. Raises QuorumError."""
        if not line.startswith("/"):
            self._ask(line)
            return
        name, _, rest = line.partition(" ")
        command = self._commands.get(name.lower())
        if command is None:
            CONSOLE.print(render_help(), highlight=False, markup=False)
        else:
            command(rest.strip())

    def _ask(self, question: str) -> None:
        start = time.perf_counter()
        asked = self._first.model_copy(update={"question": question, "session": self._session})
        answer = self._answering.ask(asked)
        self._last = answer
        self._note(answer)
        print_brief_answer(answer, seconds=time.perf_counter() - start, charted=self._charted)

    def _find_rows(self) -> AnsweredResponse | None:
        """The last answer if it has rows; says so if not."""
        if isinstance(self._last, AnsweredResponse):
            return self._last
        CONSOLE.print("There is no answer with rows yet.")
        return None

    def _show_sql(self, _: str) -> None:
        if answer := self._find_rows():
            shown = answer.sql or "You see answers without SQL."
            CONSOLE.print(shown, highlight=False, markup=False, soft_wrap=True)

    def _show_reasons(self, _: str) -> None:
        if self._last is None:
            CONSOLE.print("There is no answer yet.")
        else:
            print_reasons(self._last)

    def _show_rows(self, _: str) -> None:
        if answer := self._find_rows():
            show_paged(build_rows(answer))

    def _show_chart(self, _: str) -> None:
        if answer := self._find_rows():
            chart = choose_chart(answer.columns, answer.rows)
            if chart is None:
                CONSOLE.print(
                    "No chart fits these rows: it takes 2 to 30 different labels, or points in "
                    "time, each with one number in the last column.",
                )
            else:
                print_chart(chart)

    def _export(self, file: str) -> None:
        if answer := self._find_rows():
            told = export_rows(self._answering, answer, file)
            CONSOLE.print(told, highlight=False, markup=False, soft_wrap=True)

    def _renew(self, _: str) -> None:
        self._session = read_session(NEW)
        CONSOLE.print(f"Session {self._session}.", highlight=False, markup=False)

    def _forget(self, _: str) -> None:
        forgotten = self._answering.forget(self._session)
        CONSOLE.print(f"Deleted {forgotten} questions. ", end="", highlight=False)
        self._renew("")

    def _show_history(self, action: str) -> None:
        if action == "clear":
            self._listener.clear_history()
            CONSOLE.print("The history is empty.")
            return
        for line in self._listener.list_history()[-_MOST_REMEMBERED:]:
            CONSOLE.print(line, highlight=False, markup=False, soft_wrap=True)
