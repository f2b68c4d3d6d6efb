"""Verifies and stores examples, and opens those of the index."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from importlib.resources import as_file

import data.demo_erp
from nl2sql.concurrency import closing
from nl2sql.errors import IndexUnavailable
from nl2sql.types import Principal
from retrieval.examples.importing import ImportReport, import_pairs
from retrieval.examples.pairs import Pair, read_pairs
from retrieval.examples.records import Verifier
from retrieval.index_store.example_store import ExampleStore
from serve_app.composition.wiring import Wiring
from serve_app.reporting import Reporter


@asynccontextmanager
async def open_examples(wiring: Wiring) -> AsyncIterator[ExampleStore]:
    """The examples in the index, which is created if needed. Raises IndexUnavailable."""
    async with closing(wiring.build_index_store()) as store:
        await store.prepare()
        yield ExampleStore(store)


async def add_examples(
    wiring: Wiring, database: str, pairs: Sequence[Pair], principal: Principal, reporter: Reporter
) -> ImportReport:
    """Stores the pairs whose query passes the guard and EXPLAIN as ``principal``.

    Raises Unavailable, PolicyError, SettingsError.
    """
    async with (
        closing(wiring.build_index_store()) as store,
        closing(wiring.build_executor()) as executor,
    ):
        guard = wiring.build_guard(store)
        with reporter.step(f"Examples of {database}") as step:
            report = await import_pairs(
                database,
                pairs,
                principal,
                dialect=wiring.settings.by_name[database].dialect,
                store=ExampleStore(store),
                verifier=Verifier(guard, guard, executor),
                embedder=wiring.models.build_embedder(),
                progress=step.update,
            )
            step.finish(
                f"{report.stored} stored, {report.known} already stored, "
                f"{len(report.left_out)} left out"
            )
    return report


async def seed_demo_examples(wiring: Wiring, databases: Iterable[str], reporter: Reporter) -> None:
    """Adds the demo's examples to each of the databases that is a demo and has none yet.

    Skips a database without an index. Raises DatabaseUnavailable, PolicyError, SettingsError.
    """
    demos = [name for name in databases if wiring.settings.databases[name].demo]
    for name in demos:
        with suppress(IndexUnavailable):  # indexing reported the reason
            async with open_examples(wiring) as examples:
                has_any = await examples.has_any(name)
            if not has_any:
                with as_file(data.demo_erp.EXAMPLES) as path:
                    pairs = read_pairs(path)
                local = wiring.settings.identity.principal()
                await add_examples(wiring, name, pairs, local, reporter)
