"""Prepares a benchmark's databases to run its golds, without an index and without a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from data.benchmarks.load import load_benchmark
from data.benchmarks.types import Benchmark, Configured, PostgresFile
from evaluation.metrics.judge import Judge
from execution.executor import ReadOnlyExecutor
from execution.guard.guard import SqlGuard
from execution.postgres.restore import restore_postgres
from nl2sql.catalog import Catalog
from nl2sql.settings import load_settings
from nl2sql.types import SchemaContext
from retrieval.joins.inference import infer_keys
from serve_app.composition.wiring import Wiring
from serve_app.operations.benchmarks import add_databases, name_restored
from serve_app.operations.preparation import (
    build_wiring,
    load_demo_databases,
    start_embedded_server,
)
from serve_app.reporting import Silence
from tests.fakes import build_context


class DirectCatalogs:
    """A catalog source that reads the databases directly, and infers keys as indexing does."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        self._read: dict[str, Catalog] = {}

    async def catalog(self, database: str) -> Catalog:
        """The catalog; the same object every time. Raises DatabaseUnavailable."""
        if database not in self._read:
            catalog = self._wiring.source(database).read_catalog()
            with self._wiring.source(database).open_sampler() as sampler:
                keys = infer_keys(catalog, sampler)
            self._read[database] = replace(catalog, inferred_keys=keys)
        return self._read[database]

    async def context(self, database: str) -> SchemaContext:
        """All tables and keys of the database."""
        catalog = await self.catalog(database)
        keys = (*catalog.foreign_keys, *catalog.inferred_keys)
        return build_context(catalog, dialect=catalog.dialect, foreign_keys=keys)


@dataclass(frozen=True, slots=True)
class GoldBench:
    """A benchmark, and the guard, the executor and the judge over its databases."""

    benchmark: Benchmark
    wiring: Wiring
    catalogs: DirectCatalogs
    guard: SqlGuard
    executor: ReadOnlyExecutor
    judge: Judge


@contextmanager
def open_gold_bench(name: str, config: Path) -> Iterator[GoldBench]:
    """Restores databases from dumps. Raises SettingsError, DatabaseUnavailable."""
    settings = load_settings(config)
    benchmark = load_benchmark(name, configured=settings.databases)
    settings = add_databases(settings, benchmark)
    sources = benchmark.databases.values()
    files = {source.path for source in sources if isinstance(source, PostgresFile)}
    has_demo = any(isinstance(source, Configured) for source in sources)
    server = start_embedded_server(settings) if files or has_demo else None
    try:
        if server is not None:
            if has_demo:
                load_demo_databases(settings, server, Silence())
            for path in files:
                restore_postgres(server, name_restored(path), path)
        wiring = build_wiring(settings, server)
        catalogs = DirectCatalogs(wiring)
        guard = wiring.build_guard(catalogs)
        executor = ReadOnlyExecutor(wiring.build_databases())
        judge = Judge(catalogs, guard, executor, benchmark.missing)
        yield GoldBench(benchmark, wiring, catalogs, guard, executor, judge)
    finally:
        if server is not None:
            server.stop()
