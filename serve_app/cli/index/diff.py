"""``index diff``: shows what a build would change, without changing it."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from nl2sql.settings import Settings
from retrieval.index_store.cards import build_cards
from retrieval.indexing.difference import Difference, compare_index
from serve_app.cli.context import CliContext
from serve_app.cli.index.opening import open_index
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE
from serve_app.operations.indexing import describe_for_index

_SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}


@prints
def diff(
    context: typer.Context,
    database: Annotated[
        str | None, typer.Argument(help="The database; default: the default one.")
    ] = None,
) -> Output:
    """Show what `index build` would add, change and remove. Exits with 1 if there is any."""
    cli: CliContext = context.obj
    name = cli.settings.database_name(database)
    found = asyncio.run(_compare(cli.settings, name))
    document = {"database": name, **asdict(found)}
    return Output(document, lambda: _print(name, found), int(bool(found)))


async def _compare(settings: Settings, name: str) -> Difference:
    async with open_index(settings) as (wiring, store):
        await store.prepare()
        catalog = await asyncio.to_thread(wiring.source(name).read_catalog)
        cards = build_cards(catalog, describe_for_index(wiring, catalog))
        return compare_index(await store.load(name), catalog, cards, settings.index.embedder)


def _print(name: str, found: Difference) -> None:
    if not found:
        CONSOLE.print(f"The index of {name} is current.", highlight=False, markup=False)
        return
    for change in found.changes:
        sign, colour = _SIGNS[change.change]
        CONSOLE.print(Text(f"{sign} {change.table or name}", style=colour), soft_wrap=True)
        for detail in change.details:
            CONSOLE.print(Text(f"    {detail}"), soft_wrap=True)
    CONSOLE.print(
        f"{len(found.changes):,} changes, {found.to_embed:,} cards to embed: "
        f"quorumsql index build {name}",
        highlight=False,
        soft_wrap=True,
    )
