"""``examples list`` and ``examples export``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from retrieval.examples.files import write_examples
from retrieval.index_store.verified_example import Source, VerifiedExample
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE
from serve_app.composition.examples import open_examples
from serve_app.operations.preparation import build_wiring, start_embedded_server

Database = Annotated[str, typer.Argument(help="The database that the examples are about.")]
Sources = Annotated[
    list[str] | None, typer.Option("--source", help="Only file, benchmark or feedback; repeat.")
]


@prints
def list_(
    context: typer.Context,
    database: Database,
    source: Sources = None,
) -> Output:
    """List the examples of a database."""
    found = asyncio.run(find_examples(context.obj, database, check_sources(source)))
    return Output(found, lambda: CONSOLE.print(_build_table(database, found)))


def _build_table(database: str, found: Sequence[VerifiedExample]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=Text(f"{len(found)} examples of {database}"))
    for heading in ("id", "from", "roles", "question", "query"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "id")
    for example in found:
        origin = f"{example.source} ({example.given_by})"
        roles = ", ".join(example.roles)
        table.add_row(*map(Text, (example.id, origin, roles, example.question, example.sql)))
    return table


@prints
def export(
    context: typer.Context,
    database: Database,
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    source: Sources = None,
) -> Output:
    """Write the examples of a database to a file that `examples import` reads."""
    found = asyncio.run(find_examples(context.obj, database, check_sources(source)))
    write_examples(file, found)
    told = f"{len(found)} examples of {database} written to {file}."
    return Output(
        {"database": database, "examples": len(found), "file": file},
        lambda: CONSOLE.print(told, highlight=False, markup=False, soft_wrap=True),
    )


def check_sources(names: Sequence[str] | None) -> tuple[Source, ...]:
    """The named sources; empty means all. Raises BadParameter."""
    known: tuple[Source, ...] = ("file", "benchmark", "feedback")
    wrong = sorted(set(names or ()) - set(known))
    if wrong:
        raise typer.BadParameter(f"--source {wrong[0]}: it is one of {', '.join(known)}.")
    return tuple(source for source in known if source in (names or ()))


async def find_examples(
    cli: CliContext, database: str, sources: Sequence[Source]
) -> tuple[VerifiedExample, ...]:
    """The examples of these sources. Raises SettingsError, IndexUnavailable."""
    server = await asyncio.to_thread(start_embedded_server, cli.settings)
    async with open_examples(build_wiring(cli.settings, server)) as examples:
        return await examples.list_examples(database, sources=sources)
