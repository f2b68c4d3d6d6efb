"""Where ``ask`` and ``chat`` send their questions: to the running service, or to this process."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from pydantic import TypeAdapter, ValidationError
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from nl2sql import types
from nl2sql.errors import SettingsError
from quorumsql.client import Client, connect
from quorumsql.contract import QueryRequest, QueryResponse
from quorumsql.contract.events import ProgressEvent, StageEvent
from quorumsql.contract.model import CandidateCount
from serve_app.cli.context import CliContext
from serve_app.cli.terminal import ERRORS, TerminalReporter
from serve_app.operations.background import service_url
from serve_app.service.stage_words import describe_stage

DatabaseOption = Annotated[str | None, typer.Option(help="The database of the question.")]
UrlOption = Annotated[str, typer.Option(help="URL of the service; default: as configured.")]
PrincipalOption = Annotated[
    str, typer.Option("--as", help="The principal who asks; default: the local one.")
]
InProcessOption = Annotated[
    bool, typer.Option("--in-process", help="Use no service: load the model in this process.")
]
CountOption = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|adaptive",
        help="Number of candidates; adaptive: four, and four more where these do not agree.",
    ),
]
SeedOption = Annotated[
    int | None, typer.Option(help="Seed; the same seed repeats a run.", min=0, max=2**31 - 1)
]
AnswerTextOption = Annotated[
    Literal["off", "rule", "model"] | None,
    typer.Option(help="What writes the answer in words; default: as configured."),
]


def read_count(text: str | None) -> CandidateCount | None:
    """The number of candidates. Raises SettingsError."""
    if text is None:
        return None
    try:
        count: CandidateCount = TypeAdapter(CandidateCount).validate_python(
            int(text) if text.isdecimal() else text
        )
    except ValidationError as error:
        raise SettingsError(f"--k {text}: {error.errors()[0]['msg']}.") from error
    return count


def open_client(
    cli: CliContext, database: str | None, *, url: str, principal: str, in_process: bool
) -> Client:
    """Answers questions about ``database``. Raises SettingsError, ModelError, Unavailable."""
    name = cli.settings.source_database(database)
    if in_process:
        # Imported here, because it takes seconds and a client of the service does not need it.
        from serve_app.in_process import open_async_client

        return Client(open_async_client(cli.settings, principal, [name], TerminalReporter()))
    token = cli.settings.identity.read_token(principal) if principal else ""
    return connect(url or service_url(cli.settings), token)


def ask_showing_progress(client: Client, request: QueryRequest) -> QueryResponse:
    """Asks, and shows how far the question is on a terminal. Raises QuorumError."""
    if not ERRORS.is_terminal:
        return client.ask(request)
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=ERRORS,
        transient=True,
        # It may wait for minutes while the model uses all cores.
        refresh_per_second=4,
    )
    task = bar.add_task("asking", total=None)

    def show(event: ProgressEvent) -> None:
        if isinstance(event, StageEvent):
            progress = types.Progress(**event.model_dump(exclude={"event"}))
            bar.update(task, description=describe_stage(progress))

    with bar:
        return client.ask(request, show=show)
