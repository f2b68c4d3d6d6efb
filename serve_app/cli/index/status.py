"""``index status``: shows the live indexes, and whether the databases have changed since."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from nl2sql.errors import QuorumError
from nl2sql.settings import Settings
from nl2sql.skipped import describe_skipped
from retrieval.index_store.generations import IndexHead
from retrieval.index_store.store import IndexStore
from retrieval.index_store.value_store import ValueStore
from serve_app.cli.context import CliContext
from serve_app.cli.index.opening import open_index
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import fingerprint_schema

_MOST_NAMES = 20


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The index of one database; without an index, numbers are 0 and texts empty.

    ``state`` is ``current``, ``changed`` (the database changed since), ``not indexed``, ``unknown``
    (the database was not read, or is not in the settings) or ``unreachable``.
    """

    database: str
    state: str
    generation: int = 0
    indexed_at: str = ""
    tables: int = 0
    columns: int = 0
    foreign_keys: int = 0
    inferred_keys: int = 0
    values: int = 0
    embedder: str = ""
    bytes: int = 0
    left_out: tuple[str, ...] = ()
    problem: str = ""


@prints
def status(
    context: typer.Context,
    database: Annotated[
        str | None, typer.Argument(help="A database; default: all, also removed ones.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Do not read the databases' schemas.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Name everything that was left out.")
    ] = False,
) -> Output:
    """Show the index of each database: age, contents, size, and whether it is current."""
    cli: CliContext = context.obj
    found = asyncio.run(_read_all(cli.settings, database, quick=quick, verbose=verbose))
    return Output(found, lambda: _print(found))


def _print(found: list[IndexStatus]) -> None:
    CONSOLE.print(_build_table(found))
    for index in found:
        for line in (*index.left_out, *([index.problem] if index.problem else [])):
            CONSOLE.print(Text(f"{index.database}: {line}"), soft_wrap=True)
    stale = [index.database for index in found if index.state in ("changed", "not indexed")]
    if stale:
        CONSOLE.print(
            f"Bring up to date: quorumsql index build {' '.join(stale)}",
            markup=False,
            soft_wrap=True,
        )


async def _read_all(
    settings: Settings, database: str | None, *, quick: bool, verbose: bool
) -> list[IndexStatus]:
    async with open_index(settings) as (wiring, store):
        await store.prepare()
        heads = {head.database: head for head in await store.heads()}
        if database is not None and database not in heads:
            database = settings.database_name(database)
        names = [database] if database is not None else sorted({*settings.databases, *heads})
        most = None if verbose else _MOST_NAMES
        return [
            await _read(wiring, store, name, heads.get(name), quick=quick, most=most)
            for name in names
        ]


async def _read(
    wiring: Wiring,
    store: IndexStore,
    name: str,
    head: IndexHead | None,
    *,
    quick: bool,
    most: int | None,
) -> IndexStatus:
    state, problem = "unknown", ""
    left_out: tuple[str, ...] = ()
    if name not in wiring.settings.databases:
        problem = f"no longer in the settings: `quorumsql index drop {name}` deletes it"
    elif not quick:
        try:
            catalog = await asyncio.to_thread(wiring.source(name).read_catalog)
        except QuorumError as error:
            state, problem = "unreachable", str(error)
        else:
            fingerprint = fingerprint_schema(wiring, catalog)
            is_current = head is not None and head.fingerprint == fingerprint
            state = "current" if is_current else "changed"
            shown = describe_skipped(catalog.skipped, most_names=most or len(catalog.skipped))
            left_out = tuple(shown)
    if head is None:
        return IndexStatus(name, "not indexed", left_out=left_out, problem=problem)
    _, values = await ValueStore(store).count(name)
    return IndexStatus(
        database=name,
        state=state,
        generation=head.generation,
        indexed_at=head.indexed_at.astimezone(UTC).isoformat(timespec="seconds"),
        tables=head.tables,
        columns=head.columns,
        foreign_keys=head.foreign_keys,
        inferred_keys=head.inferred_keys,
        values=values,
        embedder=head.embedder,
        bytes=await store.measure(head),
        left_out=left_out,
        problem=problem,
    )


def _build_table(found: list[IndexStatus]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("database", "state", "age", "tables", "columns", "keys", "values", "MB"):
        right = name not in ("database", "state")
        table.add_column(name, justify="right" if right else "left")
    table.add_column("embedder", overflow="fold")
    colours = {"current": "green", "changed": "yellow", "unreachable": "red"}
    for index in found:
        state = Text(index.state, style=colours.get(index.state, ""))
        if not index.generation:
            table.add_row(Text(index.database), state)
            continue
        inferred = f" + {index.inferred_keys:,}" if index.inferred_keys else ""
        table.add_row(
            Text(index.database),
            state,
            describe_age(index.indexed_at),
            f"{index.tables:,}",
            f"{index.columns:,}",
            f"{index.foreign_keys:,}{inferred}",
            f"{index.values:,}",
            f"{index.bytes / 1e6:,.1f}",
            index.embedder,
        )
    return table


def describe_age(since: str, now: datetime | None = None) -> str:
    """The time since ``since`` in its largest unit; empty for an empty text.

    >>> describe_age("2025-01-01T00:00:00+00:00", datetime(2025, 1, 3, 12, tzinfo=UTC))
    '2 d'
    """
    if not since:
        return ""
    seconds = ((now or datetime.now(UTC)) - datetime.fromisoformat(since)).total_seconds()
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
