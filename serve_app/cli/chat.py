"""``quorumsql chat``: asks several questions in one session, each with the earlier ones as context.

Answers come from the running service, or from this process, where model and databases stay open
between questions. An error is printed, and the loop continues with the next question.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from nl2sql.errors import QuorumError
from quorumsql.contract import QueryRequest, QueryResponse
from serve_app.cli.context import CliContext
from serve_app.cli.last_answer import remember
from serve_app.cli.service_or_process import (
    Answering,
    AnswerTextOption,
    DatabaseOption,
    InProcessOption,
    PrincipalOption,
    UrlOption,
    open_answering,
)
from serve_app.cli.terminal import CONSOLE, ERRORS, print_answer
from serve_app.service.sessions import NEW, read_session

_HELP = "Ask, or type /new for a new session, /forget to delete this one, /exit to leave."
_LEAVE = frozenset({"/exit", "/quit", "exit", "quit", "bye"})


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
        answer_text=answer_text.value if answer_text else None,
    )
    with open_answering(cli, database, url=url, principal=as_, in_process=in_process) as answering:
        talk(answering, first, _listen, partial(remember, cli.settings.home, principal=as_))


def talk(
    answering: Answering,
    first: QueryRequest,
    listen: Callable[[], str],
    note: Callable[[QueryResponse], None],
) -> None:
    """Asks until ``listen`` raises EOFError or KeyboardInterrupt, or returns a word to leave.

    ``first`` is the template of every request except its question; ``note`` gets each answer.
    """
    session = first.session or ""
    CONSOLE.print(f"Session {session}. {_HELP}", highlight=False)
    while True:
        try:
            line = listen().strip()
        except (EOFError, KeyboardInterrupt):
            CONSOLE.print()
            return
        if line.lower() in _LEAVE:
            return
        if not line:
            continue
        try:
            session = _react(answering, first, session, line, note)
        except KeyboardInterrupt:
            CONSOLE.print("[yellow]Stopped.[/]")
        except QuorumError as error:
            ERRORS.print(
                f"error: {error}", style="bold red", highlight=False, markup=False, soft_wrap=True
            )


def _react(
    answering: Answering,
    first: QueryRequest,
    session: str,
    line: str,
    note: Callable[[QueryResponse], None],
) -> str:
    """Executes the line and returns the session to continue with. Raises QuorumError."""
    if line in ("/new", "/forget"):
        forgotten = answering.forget(session) if line == "/forget" else None
        session = read_session(NEW)
        done = "" if forgotten is None else f"Deleted {forgotten} questions. "
        CONSOLE.print(f"{done}Session {session}.", highlight=False)
    elif line.startswith("/"):
        CONSOLE.print(_HELP, highlight=False)
    else:
        start = time.perf_counter()
        asked = first.model_copy(update={"question": line, "session": session})
        answer = answering.ask(asked)
        note(answer)
        print_answer(answer, seconds=time.perf_counter() - start)
    return session


def _listen() -> str:
    return CONSOLE.input("[bold]?[/] ")
