"""Prepares what the service needs: the embedded server, demo data, indexes and weights.

Each step returns quickly if nothing has changed, and reports its progress to a ``Reporter``.
"""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import suppress

import data.demo_erp
from data.demo_erp import read_tables
from execution.postgres.embedded import EmbeddedServer
from generation.models.progress import show_on_stderr
from nl2sql.concurrency import closing
from nl2sql.errors import IndexUnavailable, SettingsError
from retrieval.embedding.embedder import DEFAULT_MODEL
from serve_app.composition.examples import seed_demo_examples
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import index_databases
from serve_app.operations.semantics import guard_definitions
from serve_app.reporting import SILENT, Reporter
from serve_app.settings import Settings


async def prepare(
    settings: Settings, reporter: Reporter, *, databases: list[str], strict: bool = True
) -> Wiring:
    """Prepares the embedded server, demo data and the indexes of ``databases``; returns the wiring.

    Unless ``strict``, a database that cannot be indexed is only reported, and it is an error only
    if all fail. Raises SettingsError, also for definitions that do not fit their database,
    PolicyError for a policy, DatabaseUnavailable, IndexUnavailable, ModelError if the embedding
    model cannot be fetched.
    """
    server = await asyncio.to_thread(start_embedded_server, settings, reporter)
    if server is not None:
        await asyncio.to_thread(load_demo_databases, settings, server, reporter)
        await asyncio.to_thread(create_databases, settings, server)
    wiring = build_wiring(settings, server)
    if settings.index.embedder == DEFAULT_MODEL:
        await asyncio.to_thread(wiring.models.fetch_embedder, show_on_stderr())
    await index_databases(wiring, databases, reporter, strict=strict)
    await _check_files(wiring, databases)
    await seed_demo_examples(wiring, databases, reporter)
    return wiring


async def _check_files(wiring: Wiring, databases: list[str]) -> None:
    """Raises for what is wrong in policies and definitions now, not at the first question.

    PolicyError for names in a policy or tables of an assistant, SettingsError for definitions.
    """
    async with closing(wiring.build_index_store()) as store:
        guard = wiring.build_guard(store)
        files = wiring.read_definitions(databases)
        for name, section in (wiring.settings.databases | wiring.settings.assistants).items():
            source = wiring.settings.source_of(name)
            if source not in databases:
                continue
            with suppress(IndexUnavailable):  # a failure to index was already reported
                await guard.check(name)
                if section.semantics is not None:
                    file = files[name]
                    _, problems = guard_definitions(wiring, file, await store.catalog(source))
                    if problems:
                        raise file.refuse(problems)


def pull_model(settings: Settings) -> None:
    """Fetches and checks the configured model's weights, unless the model is remote.

    Raises ModelError, EngineUnavailable, SettingsError.
    """
    if not settings.model.is_remote:
        Wiring(settings).models.fetch_weights(show_on_stderr())


def start_embedded_server(settings: Settings, reporter: Reporter = SILENT) -> EmbeddedServer | None:
    """Starts the embedded server; None if no connection uses it.

    The first start, which takes seconds, is reported. Raises DatabaseUnavailable.
    """
    if not settings.uses_embedded_server:
        return None
    server = EmbeddedServer(settings.home / "postgres")
    is_new = not server.folder.exists()
    with (reporter if is_new else SILENT).step("Embedded PostgreSQL") as step:
        server.start()
        step.finish("set up")
    return server


def stop_unused_server(settings: Settings) -> None:
    """Stops the embedded server if its last user was killed. Raises DatabaseUnavailable."""
    if settings.uses_embedded_server:
        EmbeddedServer(settings.home / "postgres").stop_if_unused()


def build_wiring(settings: Settings, server: EmbeddedServer | None) -> Wiring:
    """The wiring that uses the embedded server, if there is one."""
    return Wiring(settings, server.socket_folder if server else "")


def load_demo_databases(settings: Settings, server: EmbeddedServer, reporter: Reporter) -> None:
    """Loads demo data into every database marked ``demo`` that does not have this version.

    Raises SettingsError for a demo database outside the embedded server.
    """
    for name, database in settings.databases.items():
        if not database.demo:
            continue
        if not database.reader.is_embedded:
            raise SettingsError(
                f"databases.{name} is marked demo but is not embedded.",
                hint="Demo data is loaded only into the embedded server; remove `demo: true`.",
            )
        with reporter.step(f"Demo data into {name}") as step:
            counts: list[int] = []

            def count(_: str, rows: int, counts: list[int] = counts) -> None:
                counts.append(rows)
                step.update(sum(counts))

            loaded = server.load(
                database.reader.embedded_database(name),
                data.demo_erp.SCHEMA_SQL.read_text(encoding="utf-8"),
                read_tables(),
                version=demo_version(),
                progress=count,
            )
            step.finish(f"{sum(counts):,} rows in {len(counts)} tables" if loaded else "present")


def create_databases(settings: Settings, server: EmbeddedServer) -> None:
    """Creates, empty, the databases of the embedded server that do not exist, for their owners."""
    for name, database in settings.databases.items():
        if database.reader.is_embedded and not database.demo:
            server.create_database(database.reader.embedded_database(name))


def demo_version() -> str:
    """A hash over the demo's schema and rows."""
    content = data.demo_erp.SCHEMA_SQL.read_bytes() + data.demo_erp.ROWS.read_bytes()
    return f"demo_erp {hashlib.sha256(content).hexdigest()[:16]}"
