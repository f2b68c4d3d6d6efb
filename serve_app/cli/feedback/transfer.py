"""``feedback export``.

Its imports are inside, so that it starts quickly.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE

Database = Annotated[str, typer.Argument(help="The database that the questions are about.")]


@prints
def export(
    context: typer.Context,
    database: Database,
    file: Annotated[Path, typer.Argument(help="The file to write.")],
) -> Output:
    """Write the feedback on answers about a database to a file of JSON lines."""
    from retrieval.examples.files import write_feedback
    from serve_app.operations.feedback import list_feedback

    cli: CliContext = context.obj
    notes = asyncio.run(list_feedback(cli.settings, database))
    write_feedback(file, notes)
    told = f"{len(notes)} feedback entries of {database} written to {file}."
    return Output(
        {"database": database, "entries": len(notes), "file": file},
        lambda: CONSOLE.print(told, highlight=False, markup=False, soft_wrap=True),
    )
