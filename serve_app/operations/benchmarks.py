"""Prepares the databases of a benchmark: restores dumps, indexes, adds descriptions.

A benchmark adds its databases to the settings under names of its own; configured databases do not
change.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from dataclasses import dataclass, replace
from pathlib import Path

from data.benchmarks.types import Benchmark, Configured, LocalFile, PostgresFile, Source
from execution.postgres.embedded import EmbeddedServer
from execution.postgres.restore import restore_postgres
from nl2sql.errors import DatabaseUnavailable, SettingsError
from nl2sql.settings.database import ConnectionSettings, DatabaseSettings, build_file_connection
from serve_app.composition.examples import seed_demo_examples
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import index_databases
from serve_app.operations.preparation import (
    build_wiring,
    load_demo_databases,
    start_embedded_server,
)
from serve_app.reporting import Reporter
from serve_app.settings import Settings


@dataclass(frozen=True, slots=True)
class ReadyBenchmark:
    """A benchmark whose databases are ready for questions through ``wiring``."""

    benchmark: Benchmark
    wiring: Wiring


def add_databases(settings: Settings, benchmark: Benchmark) -> Settings:
    """The settings with the benchmark's databases added."""
    added = {
        name: _describe(source)
        for name, source in benchmark.databases.items()
        if not isinstance(source, Configured)
    }
    return settings.model_copy(update={"databases": {**settings.databases, **added}})


async def prepare_benchmark(
    settings: Settings, benchmark: Benchmark, reporter: Reporter
) -> ReadyBenchmark:
    """Restores and indexes the databases that are not ready yet; warns of those that are missing.

    Raises SettingsError, DatabaseUnavailable, IndexUnavailable.
    """
    settings = add_databases(settings, benchmark)
    server = await asyncio.to_thread(start_embedded_server, settings, reporter)
    missing = dict(benchmark.missing)
    if server is not None:
        if any(isinstance(source, Configured) for source in benchmark.databases.values()):
            await asyncio.to_thread(load_demo_databases, settings, server, reporter)
        missing |= await asyncio.to_thread(_restore, benchmark, server, reporter)
    wiring = build_wiring(settings, server)
    for name, source in benchmark.databases.items():
        if isinstance(source, LocalFile) and (reason := _find_fault(wiring, name)):
            missing[name] = reason
    for name, reason in missing.items():
        reporter.warn(f"missing {name}: {reason}")
    usable = [name for name in benchmark.databases if name not in missing]
    sources = list(dict.fromkeys(map(settings.source_of, usable)))
    await index_databases(wiring, sources, reporter, descriptions=benchmark.descriptions)
    await seed_demo_examples(wiring, sources, reporter)
    known = settings.by_name
    dialects = {known[name].dialect for name in benchmark.databases}
    return ReadyBenchmark(
        replace(benchmark, missing=missing, dialect=", ".join(sorted(dialects))), wiring
    )


def draw_sample(benchmark: Benchmark, sample: int, seed: int) -> Benchmark:
    """The benchmark with ``sample`` examples and the databases that they need; 0 takes all.

    The examples keep their order, and are the same for the same seed.
    """
    examples = benchmark.examples
    if 0 < sample < len(examples):
        chosen = random.Random(seed).sample(range(len(examples)), sample)
        examples = tuple(examples[at] for at in sorted(chosen))
    needed = {example.database for example in examples}
    databases = {name: source for name, source in benchmark.databases.items() if name in needed}
    return replace(benchmark, examples=examples, databases=databases)


def _describe(source: Source) -> DatabaseSettings:
    if isinstance(source, LocalFile):
        dialect = "duckdb" if source.path.suffix == ".duckdb" else "sqlite"
        return DatabaseSettings(reader=build_file_connection(source.path.resolve(), dialect))
    assert isinstance(source, PostgresFile)
    return DatabaseSettings(
        reader=ConnectionSettings(url=f"embedded:{name_restored(source.path)}"),
        schemas=source.schemas,
    )


def name_restored(path: Path) -> str:
    """The name of the embedded database for a dump, which databases of a benchmark may share.

    Files of the same name in different folders get different names.
    """
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()
    return f"benchmark_{path.stem.lower()}_{digest[:6]}"


def _find_fault(wiring: Wiring, name: str) -> str:
    """Why a database file cannot be read; empty if it can."""
    try:
        wiring.source(name).read_catalog()
    except DatabaseUnavailable as error:
        return error.message
    return ""


def _restore(benchmark: Benchmark, server: EmbeddedServer, reporter: Reporter) -> dict[str, str]:
    """Restores every dump; returns database → why it could not be restored."""
    failed: dict[Path, str] = {}
    files = dict.fromkeys(
        source.path for source in benchmark.databases.values() if isinstance(source, PostgresFile)
    )
    for path in files:
        with reporter.step(f"Restoring {path.name}") as step:
            try:
                restored = restore_postgres(server, name_restored(path), path)
                step.finish("restored" if restored else "present")
            except (DatabaseUnavailable, SettingsError) as error:
                failed[path] = error.message
                step.finish(f"failed: {error.message}")
    return {
        name: failed[source.path]
        for name, source in benchmark.databases.items()
        if isinstance(source, PostgresFile) and source.path in failed
    }
