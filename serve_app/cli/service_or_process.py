"""Answers the questions of ``ask`` and ``chat``: by the running service, or in this process.

In this process the model, the index and the databases stay open between questions. No event loop
runs between questions, so that Ctrl-C works at the prompt of the terminal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Protocol

import typer

from nl2sql.answers import Answer, Answered
from nl2sql.progress import observed_by
from nl2sql.protocols import Answerer, Sessions
from nl2sql.rendering import build_event, build_response
from nl2sql.settings import Settings
from nl2sql.types import Principal, QuestionEvent
from quorumsql.client import Client
from quorumsql.contract import QueryRequest, QueryResponse
from quorumsql.wire import Export, NoRows
from serve_app.cli.context import CliContext
from serve_app.cli.terminal import Show, TerminalReporter, show_progress
from serve_app.http.formats import Format, describe_answer, export_answer
from serve_app.operations.background import service_url
from serve_app.reporting import Reporter, SilentReporter
from serve_app.service.query_service import build_question


class AnswerTextSource(StrEnum):
    """No text; a short one by rule; or one by the model, checked against the rows."""

    OFF = "off"
    RULE = "rule"
    MODEL = "model"


DatabaseOption = Annotated[str | None, typer.Option(help="The database of the question.")]
UrlOption = Annotated[str, typer.Option(help="URL of the service; default: as configured.")]
PrincipalOption = Annotated[
    str, typer.Option("--as", help="The principal who asks; default: the local one.")
]
InProcessOption = Annotated[
    bool, typer.Option("--in-process", help="Use no service: load the model in this process.")
]
AnswerTextOption = Annotated[
    AnswerTextSource | None,
    typer.Option(help="What writes the answer in words; default: as configured."),
]


class QuestionAnswerer(Protocol):
    """Answers requests. Every method raises QuorumError."""

    def ask(self, request: QueryRequest) -> QueryResponse:
        """Returns the answer; shows progress on the terminal."""

    def export(self, request: QueryRequest, format_: Format) -> Export | NoRows:
        """Returns only the rows; shows nothing."""

    def forget(self, session: str) -> int:
        """Deletes a conversation and returns how many questions of it were stored."""


@dataclass(frozen=True, slots=True)
class ServiceAnswerer:
    """The service behind ``client``."""

    client: Client

    def ask(self, request: QueryRequest) -> QueryResponse:
        """See QuestionAnswerer."""
        with show_progress() as show:
            return self.client.ask(request, show=show)

    def export(self, request: QueryRequest, format_: Format) -> Export | NoRows:
        """See QuestionAnswerer."""
        return self.client.export(request, format_.media_type)

    def forget(self, session: str) -> int:
        """See QuestionAnswerer."""
        return self.client.forget(session)


@dataclass(frozen=True, slots=True)
class LocalAnswerer:
    """A pipeline in this process; ``runner`` runs it for ``principal``."""

    runner: asyncio.Runner
    pipeline: Answerer
    sessions: Sessions
    settings: Settings
    principal: Principal

    def ask(self, request: QueryRequest) -> QueryResponse:
        """See QuestionAnswerer."""
        with show_progress() as show:
            return build_response(self._answer(request, show), trace=request.trace)

    def export(self, request: QueryRequest, format_: Format) -> Export | NoRows:
        """See QuestionAnswerer."""
        answer = self._answer(request)
        if not isinstance(answer, Answered):
            return NoRows(build_response(answer, trace=False).outcome, answer.reason)
        content = export_answer(answer, format_, spreadsheet_safe=request.spreadsheet_safe)
        return Export(content, describe_answer(answer))

    def forget(self, session: str) -> int:
        """See QuestionAnswerer."""
        return self.runner.run(self.sessions.forget(self.principal, session))

    def _answer(self, request: QueryRequest, show: Show = lambda _: None) -> Answer:
        question = build_question(request, self.settings, self.principal)

        async def answer() -> Answer:
            # Inside the runner, which does not see context variables that are set outside.
            with observed_by(_ProgressObserver(show)):
                return await self.pipeline.answer(question)

        return self.runner.run(answer())


class _ProgressObserver:
    def __init__(self, show: Show) -> None:
        self._show = show

    def observe(self, event: QuestionEvent) -> None:
        self._show(build_event(event))


@contextmanager
def open_answering(
    cli: CliContext,
    database: str | None,
    *,
    url: str,
    principal: str,
    in_process: bool,
    quiet: bool = False,
) -> Iterator[QuestionAnswerer]:
    """Answers questions about ``database`` until the block ends.

    With ``quiet``, preparation is not reported. Raises SettingsError, ModelError, Unavailable.
    """
    name = cli.settings.database_name(database)
    if in_process:
        with _open_locally(
            cli, name, principal, SilentReporter() if quiet else TerminalReporter()
        ) as here:
            yield here
        return
    token = cli.settings.identity.read_token(principal) if principal else ""
    where = url or service_url(cli.settings)
    with Client(where, token) as client:
        yield ServiceAnswerer(client)


@contextmanager
def _open_locally(
    cli: CliContext, database: str, name: str, reporter: Reporter
) -> Iterator[LocalAnswerer]:
    # Imported here, because it takes seconds and a client of the service does not need it.
    from serve_app.composition.local import open_parts
    from serve_app.operations.preparation import prepare

    settings = cli.settings
    principal = settings.identity.principal(name)
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        wiring = runner.run(prepare(settings, reporter, databases=[database]))
        try:
            parts = runner.run(stack.enter_async_context(open_parts(wiring, reporter)))
            pipeline = parts.build_pipeline(settings)
            sessions = wiring.build_sessions(parts.store, parts.guard)
            yield LocalAnswerer(runner, pipeline, sessions, settings, principal)
        finally:
            runner.run(stack.aclose())
