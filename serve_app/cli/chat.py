"""``quorumsql chat``: questions one after the other, each in the light of those before.

A loop over one session. Answers come from the running service, or from this process, where model
and databases stay open between questions. What goes wrong with a question is told, and the next
one may be asked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from nl2sql.contract import AnsweredResponse, QueryRequest, QueryResponse
from nl2sql.contract.rendering import build_response
from nl2sql.errors import QuorumError
from serve_app.cli.answer_text import AnswerTextSource
from serve_app.cli.context import CliContext
from serve_app.cli.last_answer import build_last_answer, remember_answer
from serve_app.cli.observing import answer_observed
from serve_app.cli.terminal import CONSOLE, ERRORS, TerminalReporter, print_answer, show_progress
from serve_app.client import ServiceClient
from serve_app.operations.background import service_url
from serve_app.service.query_service import build_question
from serve_app.service.sessions import NEW, read_session

_HELP = "Ask, or say: /new for a fresh start, /forget to have this one forgotten, /exit to leave."
_LEAVE = frozenset({"/exit", "/quit", "exit", "quit", "bye"})


@dataclass(frozen=True, slots=True)
class Counterpart:
    """Who answers: ``ask`` gives the body of an answer, ``forget`` drops a session's turns."""

    ask: Callable[[QueryRequest], QueryResponse]
    forget: Callable[[str], int]


def chat(
    context: typer.Context,
    session: Annotated[str, typer.Option(help="A session to go on with; default: a new one.")] = "",
    database: Annotated[str | None, typer.Option(help="The database it is about.")] = None,
    url: Annotated[str, typer.Option(help="The service; default: the one configured.")] = "",
    as_: Annotated[
        str, typer.Option("--as", help="The principal who asks; default: the local one.")
    ] = "",
    in_process: Annotated[
        bool, typer.Option("--in-process", help="Without a service: load the model here.")
    ] = False,
    answer_text: Annotated[
        AnswerTextSource | None,
        typer.Option(help="Who puts answers in words; default: as configured."),
    ] = None,
) -> None:
    """Ask one question after the other; "and last year?" is understood. Ends with /exit."""
    cli: CliContext = context.obj
    chosen = read_session(session or NEW)
    first = QueryRequest(
        question="",
        database=database,
        session=chosen,
        answer_text=answer_text.value if answer_text else None,
    )
    cli.settings.database_name(database)
    if in_process:
        with open_here(cli, database, as_) as counterpart:
            talk(counterpart, first, _listen, _build_note(cli, as_))
        return
    token = cli.settings.identity.read_token(as_) if as_ else ""
    client = ServiceClient(url or service_url(cli.settings), token)

    def ask(request: QueryRequest) -> QueryResponse:
        with show_progress() as show:
            return client.query(request, show=show)

    talk(Counterpart(ask, client.forget), first, _listen, _build_note(cli, as_))


def talk(
    counterpart: Counterpart,
    first: QueryRequest,
    listen: Callable[[], str],
    note: Callable[[QueryResponse], None],
) -> None:
    """Until ``listen`` raises EOFError or KeyboardInterrupt, or somebody leaves.

    ``first`` is what every request is like, but for its question; ``note`` hears each answer.
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
            session = _react(counterpart, first, session, line, note)
        except KeyboardInterrupt:
            CONSOLE.print("[yellow]Stopped.[/]")
        except QuorumError as error:
            ERRORS.print(
                f"error: {error}", style="bold red", highlight=False, markup=False, soft_wrap=True
            )


def _react(
    counterpart: Counterpart,
    first: QueryRequest,
    session: str,
    line: str,
    note: Callable[[QueryResponse], None],
) -> str:
    """Does what the line says; the session from now on. Raises QuorumError."""
    if line in ("/new", "/forget"):
        forgotten = counterpart.forget(session) if line == "/forget" else None
        session = read_session(NEW)
        told = "" if forgotten is None else f"Forgot {forgotten} questions. "
        CONSOLE.print(f"{told}Session {session}.", highlight=False)
    elif line.startswith("/"):
        CONSOLE.print(_HELP, highlight=False)
    else:
        start = time.perf_counter()
        asked = first.model_copy(update={"question": line, "session": session})
        answer = counterpart.ask(asked)
        note(answer)
        print_answer(answer, seconds=time.perf_counter() - start)
    return session


@contextmanager
def open_here(cli: CliContext, database: str | None, name: str) -> Iterator[Counterpart]:
    """Model, index and databases in this process, open until the block ends.

    Between questions no event loop runs, so that Ctrl-C reaches whoever waits for a line. Raises
    SettingsError, ModelError, Unavailable.
    """
    # Only what runs in this process needs what takes seconds to import.
    from serve_app.composition.local import open_parts
    from serve_app.operations.preparation import prepare

    settings = cli.settings
    principal = settings.identity.principal(name)
    reporter = TerminalReporter()
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        wiring = runner.run(
            prepare(settings, reporter, databases=[settings.database_name(database)])
        )
        try:
            parts = runner.run(stack.enter_async_context(open_parts(wiring, reporter)))
            pipeline = parts.build_pipeline(settings)
            sessions = wiring.build_sessions(parts.store, parts.guard)

            def ask(request: QueryRequest) -> QueryResponse:
                question = build_question(request, settings, principal)
                answer = runner.run(answer_observed(pipeline, question))
                return build_response(answer, trace=request.trace)

            yield Counterpart(ask, lambda session: runner.run(sessions.forget(principal, session)))
        finally:
            runner.run(stack.aclose())


def _listen() -> str:
    return CONSOLE.input("[bold]?[/] ")


def _build_note(cli: CliContext, name: str) -> Callable[[QueryResponse], None]:
    """Notes what was answered, for ``quorumsql feedback``."""

    def note(answer: QueryResponse) -> None:
        if isinstance(answer, AnsweredResponse):
            remember_answer(cli.settings.home, build_last_answer(answer, name))

    return note
