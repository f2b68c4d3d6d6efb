"""``index build``: brings the index of databases up to date."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from nl2sql.settings import Settings
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE, TerminalReporter
from serve_app.operations.preparation import prepare

_INTERRUPTED = 130


@prints
def build(
    context: typer.Context,
    databases: Annotated[list[str] | None, typer.Argument(help="Databases; default: all.")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Name everything that was left out.")
    ] = False,
) -> Output:
    """Read the schema, embed what changed, store it. A running service uses the new index."""
    return run_build(context.obj, databases or [], verbose=verbose)


def run_build(cli: CliContext, databases: list[str], *, verbose: bool) -> Output:
    """Builds the indexes of ``databases``, or of all; Ctrl-C prints how to continue."""
    reporter = TerminalReporter()
    names = [cli.settings.database_name(name) for name in databases or cli.settings.databases]
    try:
        asyncio.run(_build(cli.settings, names, reporter, verbose=verbose))
    except KeyboardInterrupt:
        CONSOLE.print(
            "Stopped. The old index remains in use. Finished embeddings are stored; the next "
            "`quorumsql index build` continues from here.",
            highlight=False,
        )
        raise typer.Exit(_INTERRUPTED) from None
    # People have seen each step when it ended.
    document = {"databases": names, "steps": reporter.steps, "warnings": reporter.warnings}
    return Output(document, lambda: None)


async def _build(
    settings: Settings, names: list[str], reporter: TerminalReporter, *, verbose: bool
) -> None:
    await prepare(settings, reporter, databases=names, verbose=verbose)
