"""``quorumsql index``: brings the index of databases up to date."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from serve_app.cli.context import CliContext
from serve_app.cli.terminal import TerminalReporter
from serve_app.preparation import prepare


def index(
    context: typer.Context,
    databases: Annotated[
        list[str] | None, typer.Argument(help="Databases; none means all that are configured.")
    ] = None,
) -> None:
    """Read the schema, embed what changed, store it. A running service notices by itself."""
    cli: CliContext = context.obj
    names = [cli.settings.database_name(name) for name in databases or cli.settings.databases]
    asyncio.run(prepare(cli.settings, TerminalReporter(), databases=names))
