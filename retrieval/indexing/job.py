"""Runs an indexing job: takes the database's lock and runs one phase after the other.

If a job is interrupted, the old index stays in service, and the next job reuses stored vectors.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from nl2sql.catalog import Catalog
from nl2sql.skipped import Skipped
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.store import IndexStore
from retrieval.indexing.draft import Draft, Phase, Workbench
from retrieval.indexing.phases import CORE_PHASES, give_catalog

# Phase, done, total; total is 0 if it is unknown.
Progress = Callable[[str, int, int], None]

WAITING = "waiting for another run"


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The result of a run. ``embedded`` counts newly embedded cards, ``seconds`` is by phase."""

    database: str
    tables: int
    columns: int
    foreign_keys: int
    inferred_keys: int
    column_cards: int
    embedded: int
    changed: bool
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]
    seconds: tuple[tuple[str, float], ...]


async def run_job(
    database: str,
    phases: Sequence[Phase],
    store: IndexStore,
    embedder: Embedder,
    *,
    progress: Progress = lambda phase, done, total: None,
) -> IndexReport:
    """Runs ``phases`` in order, after any other running job of ``database``.

    Raises IndexUnavailable if the store does not answer, and what the phases raise.
    """
    await store.prepare()
    draft = Draft(Catalog(database, ()))
    seconds: list[tuple[str, float]] = []
    async with store.writer(database, lambda: progress(WAITING, 0, 0)) as writer:
        for phase in phases:
            progress(phase.name, 0, 0)
            start = time.perf_counter()
            draft = await phase.run(draft, Workbench(writer, embedder, _name(phase, progress)))
            seconds.append((phase.name, time.perf_counter() - start))
    catalog = draft.catalog
    return IndexReport(
        database=database,
        tables=len(catalog.tables),
        columns=sum(len(table.columns) for table in catalog.tables),
        foreign_keys=len(catalog.foreign_keys),
        inferred_keys=len(catalog.inferred_keys),
        column_cards=len(draft.cards.columns),
        embedded=draft.embedded,
        changed=draft.written is not None,
        skipped=draft.skipped,
        notes=draft.notes,
        seconds=tuple(seconds),
    )


async def index_database(
    catalog: Catalog,
    store: IndexStore,
    embedder: Embedder,
    *,
    glosses: Mapping[str, str] = MappingProxyType({}),
    progress: Progress = lambda phase, done, total: None,
) -> IndexReport:
    """Updates the index of ``catalog.database`` to ``catalog`` and ``glosses``."""
    phases = (*give_catalog(catalog, glosses), *CORE_PHASES)
    return await run_job(catalog.database, phases, store, embedder, progress=progress)


def _name(phase: Phase, progress: Progress) -> Callable[[int, int], None]:
    return lambda done, total: progress(phase.name, done, total)
