"""``feedback export`` and ``feedback import``.

Their imports are inside the functions, so that ``feedback right`` starts quickly.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE, TerminalReporter

Database = Annotated[str, typer.Argument(help="The database that the questions are about.")]


@prints
def export(
    context: typer.Context,
    database: Database,
    file: Annotated[Path, typer.Argument(help="The file to write.")],
) -> Output:
    """Write the feedback on answers about a database to a file for `feedback import`."""
    from retrieval.examples.feedback_files import write_feedback
    from serve_app.operations.feedback import list_feedback

    cli: CliContext = context.obj
    notes = asyncio.run(list_feedback(cli.settings, database))
    write_feedback(file, notes)
    told = f"{len(notes)} feedback entries of {database} written to {file}."
    return Output(
        {"database": database, "entries": len(notes), "file": file},
        lambda: CONSOLE.print(told, highlight=False, markup=False, soft_wrap=True),
    )


@prints
def bring_in(
    context: typer.Context,
    database: Database,
    file: Annotated[Path, typer.Argument(help="JSON lines, as `feedback export` writes them.")],
    as_: Annotated[
        str, typer.Option("--as", help="The principal to verify as; default: the local one.")
    ] = "",
) -> Output:
    """Verify feedback entries and store them, including the examples that they add."""
    from retrieval.examples.feedback_files import read_feedback
    from serve_app.cli.examples.bring_in import build_report_output
    from serve_app.operations.feedback import add_feedback

    cli: CliContext = context.obj
    principal = cli.settings.identity.principal(as_)
    name = cli.settings.database_name(database)
    notes = read_feedback(file, name)
    report = asyncio.run(add_feedback(cli.settings, name, notes, principal, TerminalReporter()))
    return build_report_output(name, report, "entry")
