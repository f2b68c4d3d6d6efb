"""The command: its options, and whether somebody types at a terminal or lines come from a pipe."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Annotated

import typer

from quorumsql.contract import QueryRequest
from serve_app.cli.chat.conversation import Conversation, Listener, PipeListener
from serve_app.cli.context import CliContext
from serve_app.cli.last_answer import remember
from serve_app.cli.schema_names import SchemaNames
from serve_app.cli.service_or_process import (
    AnswerTextOption,
    ChartOption,
    DatabaseOption,
    InProcessOption,
    PrincipalOption,
    UrlOption,
    open_answering,
)
from serve_app.service.sessions import NEW, read_session

HISTORY = "chat_history"
"""The file of the history, under ``home``."""


def chat(
    context: typer.Context,
    session: Annotated[str, typer.Option(help="A session to continue; default: a new one.")] = "",
    database: DatabaseOption = None,
    url: UrlOption = "",
    as_: PrincipalOption = "",
    in_process: InProcessOption = False,
    answer_text: AnswerTextOption = None,
    chart: ChartOption = True,
    history: Annotated[
        bool,
        typer.Option(
            "--history/--no-history",
            envvar="QUORUMSQL_CHAT_HISTORY",
            help="Keep what is typed in a private file under home.",
        ),
    ] = True,
) -> None:
    """Ask several questions in a row; follow-ups like "and last year?" work. End with /exit."""
    cli: CliContext = context.obj
    first = QueryRequest(
        question="",
        database=database,
        session=read_session(session or NEW),
        answer_text=answer_text.value if answer_text else None,
        trace=True,
    )
    with open_answering(cli, database, url=url, principal=as_, in_process=in_process) as answering:
        listener = _choose_listener(cli, answering.names, keep=history)
        note = partial(remember, cli.settings.home, principal=as_)
        Conversation(answering, first, listener, note, charted=chart).run()


def _choose_listener(cli: CliContext, names: SchemaNames, *, keep: bool) -> Listener:
    at_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not at_terminal or os.environ.get("TERM") == "dumb":
        return PipeListener()
    # Imported here, because it takes long and only a terminal needs it.
    from serve_app.cli.chat.history import open_history
    from serve_app.cli.chat.prompt import TerminalListener

    return TerminalListener(open_history(cli.settings.home / HISTORY if keep else None), names)
