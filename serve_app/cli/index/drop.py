"""``index drop``: deletes an index, which a build creates again."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from nl2sql.errors import InvalidRequest
from nl2sql.settings import Settings
from retrieval.index_store.value_store import ValueStore
from serve_app.cli.context import CliContext
from serve_app.cli.index.opening import open_index
from serve_app.cli.output import Output, confirm, prints
from serve_app.cli.terminal import CONSOLE


@prints
def drop(
    context: typer.Context,
    database: Annotated[str | None, typer.Argument(help="The database.")] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Drop the whole index schema, with the examples and feedback of all databases.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> Output:
    """Delete the index and values of a database, not the database itself."""
    cli: CliContext = context.obj
    if everything == (database is not None):
        raise InvalidRequest(
            "Name one database, or use --all.", field="database", hint="quorumsql index drop NAME"
        )
    if everything:
        confirm(
            "Drop all indexes, and the examples and feedback of all databases? "
            "`quorumsql examples export` saves the examples, also those that feedback gave.",
            yes=yes,
        )
        asyncio.run(_drop_everything(cli.settings))
        told = "Dropped. `quorumsql index build` creates the indexes again."
        return _build_output(None, True, told)
    assert database is not None
    confirm(f"Drop the index of {database}? Its examples are kept.", yes=yes)
    dropped = asyncio.run(_drop(cli.settings, database))
    told = (
        f"Dropped; questions about {database} are refused now. "
        f"`quorumsql index build {database}` creates it again."
        if dropped
        else f"{database} had no index."
    )
    return _build_output(database, dropped, told)


def _build_output(database: str | None, dropped: bool, told: str) -> Output:
    return Output(
        {"database": database, "dropped": dropped},
        lambda: CONSOLE.print(told, highlight=False, markup=False, soft_wrap=True),
    )


async def _drop(settings: Settings, database: str) -> bool:
    async with open_index(settings) as (_, store):
        await store.prepare()
        if await store.head(database) is None:
            database = settings.database_name(database)
        await ValueStore(store).drop(database)
        return await store.drop(database)


async def _drop_everything(settings: Settings) -> None:
    async with open_index(settings) as (_, store):
        await store.drop_everything()
