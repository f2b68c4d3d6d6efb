"""``quorumsql index``: builds, inspects and drops the index of databases."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC
from functools import partial
from typing import Annotated, Any, TypeVar

import typer

from nl2sql.catalog import Skipped
from nl2sql.concurrency import closing
from nl2sql.errors import InvalidRequest, QuorumError, ServerUnavailable
from nl2sql.words import count
from retrieval.index_store.indexed_database import IndexHead
from retrieval.index_store.store import IndexStore
from retrieval.index_store.value_store import ValueStore
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, confirm, prints, say
from serve_app.cli.terminal import TerminalReporter
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import fingerprint_schema
from serve_app.operations.preparation import build_wiring, prepare, start_embedded_server
from serve_app.operations.skipped_objects import describe_skipped
from serve_app.settings import Settings

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

_Found = TypeVar("_Found")
_INTERRUPTED = 130


def call_index(
    settings: Settings,
    action: Callable[[Wiring, IndexStore], Awaitable[_Found]],
    *,
    prepares: bool = True,
) -> _Found:
    """What ``action`` returns for the index, which is created if needed unless not ``prepares``.

    Starts the embedded server. Raises SettingsError, DatabaseUnavailable, IndexUnavailable.
    """

    async def run() -> _Found:
        wiring = build_wiring(settings, start_embedded_server(settings, TerminalReporter()))
        async with closing(wiring.build_index_store()) as store:
            if prepares:
                await store.prepare()
            return await action(wiring, store)

    return asyncio.run(run())


@app.command("build")
@prints
def build(
    context: typer.Context,
    databases: Annotated[list[str] | None, typer.Argument(help="Databases; default: all.")] = None,
) -> Output:
    """Read the schema, embed what changed, store it. A running service uses the new index."""
    settings = context.obj.settings
    names = [settings.source_database(name) for name in databases or settings.databases]
    reporter = TerminalReporter()
    try:
        asyncio.run(prepare(settings, reporter, databases=names))
    except KeyboardInterrupt:
        say("Stopped. The old index remains in use.")
        raise typer.Exit(_INTERRUPTED) from None
    # People have seen each step when it ended.
    document = {"databases": names, "warnings": reporter.warnings}
    return Output(document, lambda: None)


@app.command("status")
@prints
def status(
    context: typer.Context,
    database: Annotated[
        str | None, typer.Argument(help="A database; default: all, also removed ones.")
    ] = None,
) -> Output:
    """Show the index of each database: age, contents, and whether it is current."""
    cli: CliContext = context.obj
    found = call_index(cli.settings, partial(_read_all, database))
    return Output(found, lambda: _print(found))


def _print(found: list[dict[str, Any]]) -> None:
    for index in found:
        said = f"{index['database']}: {index['state']}"
        if "version" in index:
            parts = (
                count(index["tables"], "table"),
                count(index["columns"], "column"),
                count(index["values"], "value"),
                f"indexed {index['indexed_at']:%Y-%m-%d %H:%M} UTC",
            )
            said += f"; {', '.join(parts)}"
        say(said)
        problems = filter(None, [index["problem"]])
        for line in (*describe_skipped(index["left_out"]), *problems):
            say(f"  {line}")
    stale = [index["database"] for index in found if index["state"] in ("changed", "not indexed")]
    if stale:
        say(f"Bring up to date: quorumsql index build {' '.join(stale)}")


async def _read_all(
    database: str | None, wiring: Wiring, store: IndexStore
) -> list[dict[str, Any]]:
    settings = wiring.settings
    heads = {head.database: head for head in await store.heads()}
    if database is not None and database not in heads:
        database = settings.source_database(database)
    names = [database] if database is not None else sorted({*settings.databases, *heads})
    return [await _read(wiring, store, name, heads.get(name)) for name in names]


async def _read(
    wiring: Wiring, store: IndexStore, name: str, head: IndexHead | None
) -> dict[str, Any]:
    """The index of a database, and how the database compares with it.

    ``state`` is ``current``, ``changed`` (the database changed since), ``not indexed``, ``unknown``
    (the database is not in the settings) or ``unreachable``.
    """
    state, problem = "unknown", ""
    left_out: tuple[Skipped, ...] = ()
    if name not in wiring.settings.databases:
        problem = f"no longer in the settings: `quorumsql index drop {name}` deletes it"
    else:
        try:
            catalog = await asyncio.to_thread(wiring.read_described, name)
        except QuorumError as error:
            state = "unreachable"
            problem = error.details if isinstance(error, ServerUnavailable) else str(error)
        else:
            fingerprint = fingerprint_schema(catalog)
            is_current = head is not None and head.fingerprint == fingerprint
            state = "current" if is_current else "changed"
            left_out = catalog.skipped
    status: dict[str, Any] = {"database": name, "left_out": left_out, "problem": problem}
    if head is None:
        return {**status, "state": "not indexed"}
    _, values = await ValueStore(store).count(name)
    return {
        **asdict(head),
        **status,
        "state": state,
        "indexed_at": head.indexed_at.astimezone(UTC),
        "values": values,
    }


@app.command("drop")
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
    settings = context.obj.settings
    if everything:
        if database is not None:
            raise InvalidRequest("Name one database, or use --all.", field="database")
        confirm(
            "Drop all indexes, and the examples and feedback of all databases? "
            "`pg_dump --schema quorumsql` saves them.",
            yes=yes,
        )
        # Also an index of another version, which cannot be prepared.
        call_index(settings, lambda _, store: store.drop_everything(), prepares=False)
        told = "Dropped. `quorumsql index build` creates the indexes again."
        return Output({"database": None, "dropped": True}, told)
    if database is None:
        raise InvalidRequest(
            "Name one database, or use --all.", field="database", hint="quorumsql index drop NAME"
        )
    confirm(f"Drop the index of {database}? Its examples are kept.", yes=yes)
    dropped = call_index(settings, partial(_drop, database))
    told = (
        f"Dropped; questions about {database} are refused now. "
        f"`quorumsql index build {database}` creates it again."
        if dropped
        else f"{database} had no index."
    )
    return Output({"database": database, "dropped": dropped}, told)


async def _drop(database: str, wiring: Wiring, store: IndexStore) -> bool:
    if database not in {head.database for head in await store.heads()}:
        database = wiring.settings.database_name(database)
    await ValueStore(store).drop(database)
    return await store.drop(database)
