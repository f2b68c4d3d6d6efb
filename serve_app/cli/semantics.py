"""``quorumsql semantics``: checks a database's file of definitions."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from rich.markup import escape

from nl2sql.errors import SettingsError
from retrieval.semantics.semantics_file import load_semantics
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE
from serve_app.operations.preparation import (
    build_wiring,
    load_demo_databases,
    start_embedded_server,
)
from serve_app.operations.semantics import check_definitions
from serve_app.reporting import SilentReporter


@prints
def semantics(
    context: typer.Context,
    database: Annotated[
        str | None, typer.Argument(help="The database; default: the default one.")
    ] = None,
) -> Output:
    """Check the definitions of a database: names, joins, the guard, and EXPLAIN."""
    cli: CliContext = context.obj
    settings = cli.settings
    name = settings.database_name(database)
    path = settings.databases[name].semantics
    if path is None:
        raise SettingsError(
            f"The database {name!r} has no definitions.",
            hint=f"Name a file under databases.{name}.semantics.",
        )
    file = load_semantics(path)
    server = start_embedded_server(settings)
    if server is not None:
        load_demo_databases(settings, server, SilentReporter())
    wiring = build_wiring(settings, server)
    catalog = wiring.source(name).read_catalog()
    count, problems = asyncio.run(check_definitions(wiring, file, catalog))
    told = [file.describe(problem) for problem in problems]
    document = {"database": name, "definitions": count, "problems": told}
    return Output(document, lambda: _print(name, count, told), int(bool(told)))


def _print(name: str, count: int, problems: list[str]) -> None:
    for problem in problems:
        CONSOLE.print(f"[red]✗[/] {escape(problem)}", highlight=False, soft_wrap=True)
    if not problems:
        fit = "1 definition fits" if count == 1 else f"{count} definitions fit"
        CONSOLE.print(f"[green]✓[/] {escape(f'{fit} {name}')}.", highlight=False)
