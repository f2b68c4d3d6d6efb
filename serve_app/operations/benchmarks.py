"""Makes a benchmark's databases ready: restored where they are dumps, indexed, described.

A benchmark adds its databases to the settings under names of its own; what the settings file says
of its own databases stays as it is.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from data.benchmarks.types import Benchmark, Configured, PostgresFile, Source, SqliteFile
from execution.postgres.embedded import EmbeddedServer
from execution.postgres.restore import restore_postgres
from nl2sql.errors import DatabaseUnavailable, SettingsError
from nl2sql.settings import Settings
from nl2sql.settings.connection import ConnectionSettings, build_sqlite_connection
from nl2sql.settings.database import DatabaseSettings
from serve_app.composition.examples import seed_demo_examples
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import index_databases
from serve_app.operations.preparation import (
    build_wiring,
    load_demo_databases,
    start_embedded_server,
)
from serve_app.reporting import Reporter


@dataclass(frozen=True, slots=True)
class ReadyBenchmark:
    """A benchmark whose databases can be asked, through ``wiring``."""

    benchmark: Benchmark
    wiring: Wiring


def add_databases(settings: Settings, benchmark: Benchmark) -> Settings:
    """The settings with the benchmark's databases in them."""
    added = {
        name: _describe(source)
        for name, source in benchmark.databases.items()
        if not isinstance(source, Configured)
    }
    return settings.model_copy(update={"databases": {**settings.databases, **added}})


async def prepare_benchmark(
    settings: Settings, benchmark: Benchmark, reporter: Reporter
) -> ReadyBenchmark:
    """Restores and indexes what is not ready yet.

    Raises SettingsError, DatabaseUnavailable, IndexUnavailable.
    """
    settings = add_databases(settings, benchmark)
    server = await asyncio.to_thread(start_embedded_server, settings)
    missing = dict(benchmark.missing)
    if server is not None:
        if any(isinstance(source, Configured) for source in benchmark.databases.values()):
            await asyncio.to_thread(load_demo_databases, settings, server, reporter)
        missing |= await asyncio.to_thread(_restore, benchmark, server, reporter)
    wiring = build_wiring(settings, server)
    for name, source in benchmark.databases.items():
        if isinstance(source, SqliteFile) and (reason := _find_fault(wiring, name)):
            missing[name] = reason
    usable = [name for name in benchmark.databases if name not in missing]
    await index_databases(wiring, usable, reporter, descriptions=benchmark.descriptions)
    await seed_demo_examples(wiring, usable, reporter)
    dialects = {settings.databases[name].dialect for name in benchmark.databases}
    return ReadyBenchmark(
        replace(benchmark, missing=missing, dialect=", ".join(sorted(dialects))), wiring
    )


def select(benchmark: Benchmark, ids: Iterable[str]) -> Benchmark:
    """The benchmark with the examples of these ids only, and the databases that they need."""
    wanted = set(ids)
    examples = tuple(example for example in benchmark.examples if example.id in wanted)
    needed = {example.database for example in examples}
    databases = {name: each for name, each in benchmark.databases.items() if name in needed}
    return replace(benchmark, examples=examples, databases=databases)


def _describe(source: Source) -> DatabaseSettings:
    if isinstance(source, SqliteFile):
        return DatabaseSettings(reader=build_sqlite_connection(source.path.resolve()))
    assert isinstance(source, PostgresFile)
    return DatabaseSettings(
        reader=ConnectionSettings(url=f"embedded:{name_restored(source.path)}"),
        schemas=source.schemas,
    )


def name_restored(path: Path) -> str:
    """The embedded database that holds a file, which several databases of a benchmark may share.

    Files of one name in different folders are kept apart.
    """
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()
    return f"benchmark_{path.stem.lower()}_{digest[:6]}"


def _find_fault(wiring: Wiring, name: str) -> str:
    """Why a file cannot be read; empty when it can."""
    try:
        wiring.source(name).read_catalog()
    except DatabaseUnavailable as error:
        return error.message
    return ""


def _restore(benchmark: Benchmark, server: EmbeddedServer, reporter: Reporter) -> dict[str, str]:
    """Restores every file; database → why it could not be."""
    failed: dict[Path, str] = {}
    files = dict.fromkeys(
        source.path for source in benchmark.databases.values() if isinstance(source, PostgresFile)
    )
    for path in files:
        with reporter.step(f"Restoring {path.name}") as step:
            try:
                restored = restore_postgres(server, name_restored(path), path, progress=step.update)
                step.finish("restored" if restored else "present")
            except (DatabaseUnavailable, SettingsError) as error:
                failed[path] = error.message
                step.finish(f"failed: {error.message}")
    return {
        name: failed[source.path]
        for name, source in benchmark.databases.items()
        if isinstance(source, PostgresFile) and source.path in failed
    }
