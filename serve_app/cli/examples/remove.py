"""``examples remove``: removes examples after writing them to a file that can be imported."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from nl2sql.errors import SettingsError
from retrieval.examples.files import write_examples
from retrieval.index_store.verified_example import VerifiedExample
from serve_app.cli.context import CliContext
from serve_app.cli.examples.show import Database, Sources, check_sources, find_examples
from serve_app.cli.output import Output, confirm, prints
from serve_app.cli.terminal import CONSOLE
from serve_app.composition.examples import open_examples
from serve_app.operations.preparation import build_wiring, start_embedded_server


@prints
def remove(
    context: typer.Context,
    database: Database,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids, as `examples list` shows.")] = None,
    source: Sources = None,
    kept: Annotated[
        Path | None,
        typer.Option("--keep", help="Where to write them first; default: a file under home."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> Output:
    """Remove examples by id or by source. What is removed is written to a file first."""
    cli: CliContext = context.obj
    if bool(ids) == bool(source):
        raise typer.BadParameter("Name either ids or a --source.")
    found = _choose(cli, database, ids or (), source)
    confirm(f"Remove {len(found)} examples of {database}?", yes=yes)
    file = kept or _name_file(cli.settings.home, database)
    write_examples(file, found)
    removed = asyncio.run(_remove(cli, database, found))
    told = (
        f"Removed {removed} examples of {database}. To restore them:\n"
        f"  quorumsql examples import {database} {file}"
    )
    return Output(
        {"database": database, "removed": removed, "file": file},
        lambda: CONSOLE.print(told, highlight=False, markup=False, soft_wrap=True),
    )


def _choose(
    cli: CliContext, database: str, ids: Sequence[str], source: Sequence[str] | None
) -> tuple[VerifiedExample, ...]:
    found = asyncio.run(find_examples(cli, database, check_sources(source)))
    if ids:
        if unknown := sorted(set(ids) - {example.id for example in found}):
            raise SettingsError(
                f"{database} has no example {', '.join(unknown)}.",
                hint=f"`quorumsql examples list {database}` shows them.",
            )
        found = tuple(example for example in found if example.id in set(ids))
    if not found:
        raise SettingsError(f"There are no such examples of {database}.")
    return found


def _name_file(home: Path, database: str) -> Path:
    at = datetime.now().strftime("%Y%m%d-%H%M%S")
    return home / "removed" / f"examples-{database}-{at}.jsonl"


async def _remove(cli: CliContext, database: str, found: Sequence[VerifiedExample]) -> int:
    server = await asyncio.to_thread(start_embedded_server, cli.settings)
    async with open_examples(build_wiring(cli.settings, server)) as examples:
        return await examples.remove(database, [example.id for example in found])
