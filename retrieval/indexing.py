"""Indexing as a long job: a sequence of phases from reading the schema to a live index.

The job takes the database's lock. If it is interrupted, the old index stays in service, and the
next job reuses stored vectors. If the index is current, nothing is embedded or written.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nl2sql.catalog import Catalog, Table
from nl2sql.skipped import Skipped
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.cards import Cards, build_cards
from retrieval.index_store.generations import IndexHead
from retrieval.index_store.index_writer import IndexWriter, NewGeneration
from retrieval.index_store.store import IndexStore


def describe_catalog(catalog: Catalog, descriptions: Mapping[str, str]) -> Catalog:
    """The catalog with ``descriptions`` in place of missing comments.

    Keys are ``table`` or ``table.column`` in any case; unknown keys are ignored.

    >>> from nl2sql.catalog import Column
    >>> shop = Catalog("shop", (Table("main", "Orders", (Column("Amt", "REAL"),)),))
    >>> describe_catalog(shop, {"orders.amt": "in euros"}).tables[0].columns[0].comment
    'in euros'
    """
    if not descriptions:
        return catalog
    known = {key.lower(): " ".join(text.split()) for key, text in descriptions.items()}
    return replace(catalog, tables=tuple(_describe(table, known) for table in catalog.tables))


def _describe(table: Table, known: Mapping[str, str]) -> Table:
    name = table.name.lower()
    return replace(
        table,
        comment=table.comment or known.get(name, ""),
        columns=tuple(
            replace(
                column, comment=column.comment or known.get(f"{name}.{column.name.lower()}", "")
            )
            for column in table.columns
        ),
    )


PhaseProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Draft:
    """An unfinished index; each phase adds its part.

    ``fingerprint`` is that of the schema as read, without inferred keys. ``notes`` are sentences
    for the report.
    """

    catalog: Catalog
    fingerprint: str = ""
    skipped: tuple[Skipped, ...] = ()
    glosses: Mapping[str, str] = field(default_factory=dict)
    cards: Cards = field(default_factory=lambda: Cards((), ()))
    version: str = ""
    embedded: int = 0
    written: IndexHead | None = None
    notes: tuple[str, ...] = ()

    def with_note(self, note: str) -> Draft:
        """The draft with one more note; an empty note is ignored."""
        return replace(self, notes=(*self.notes, note)) if note else self


@dataclass(frozen=True, slots=True)
class IndexingResources:
    """Resources of all phases; ``writer`` holds the database's lock for the whole job."""

    writer: IndexWriter
    embedder: Embedder
    progress: PhaseProgress


@dataclass(frozen=True, slots=True)
class Phase:
    """One step of the job. The progress bar shows ``name``."""

    name: str
    run: Callable[[Draft, IndexingResources], Awaitable[Draft]]


# Texts in a commit, so the most that an interrupted run loses. The embedder sorts them by length.
_BATCH = 128


async def make_cards(draft: Draft, bench: IndexingResources) -> Draft:
    """Builds the cards, and the version that shows whether the index is current."""
    cards = await asyncio.to_thread(build_cards, draft.catalog, draft.glosses)
    version = index_version(draft.catalog, cards, bench.embedder.name)
    return replace(draft, cards=cards, version=version)


async def embed_cards(draft: Draft, bench: IndexingResources) -> Draft:
    """Embeds the texts without a stored vector, and stores them batch by batch.

    Raises SettingsError if the model cannot be loaded.
    """
    if await _is_current(draft, bench):
        return draft
    name = bench.embedder.name
    known = await bench.writer.known_hashes(name)
    wanted = {bytes.fromhex(card.sha256): card.summary for card in draft.cards.tables}
    wanted |= {bytes.fromhex(card.sha256): card.text for card in draft.cards.columns}
    missing = [(sha256, text) for sha256, text in wanted.items() if sha256 not in known]
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        vectors = await asyncio.to_thread(bench.embedder.embed, [text for _, text in batch])
        await bench.writer.add_vectors(name, [sha256 for sha256, _ in batch], vectors)
        bench.progress(start + len(batch), len(missing))
    return replace(draft, embedded=len(missing))


async def write_index(draft: Draft, bench: IndexingResources) -> Draft:
    """Replaces the live index, unless it is current."""
    if await _is_current(draft, bench):
        await bench.writer.clean_up()
        return draft
    new = NewGeneration(
        draft.catalog, draft.cards, draft.version, draft.fingerprint, bench.embedder.name
    )
    return replace(draft, written=await bench.writer.replace(new, bench.progress))


CORE_PHASES = (
    Phase("cards", make_cards),
    Phase("embedding", embed_cards),
    Phase("writing", write_index),
)


def index_version(catalog: Catalog, cards: Cards, embedder: str) -> str:
    """A hash of the schema, the keys, the cards' texts and the embedder's name."""
    digest = hashlib.sha256(f"{catalog.fingerprint}\0{embedder}".encode())
    for text in (*(card.text for card in cards.tables), *(card.text for card in cards.columns)):
        digest.update(b"\0" + text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


async def _is_current(draft: Draft, bench: IndexingResources) -> bool:
    head = await bench.writer.head()
    return head is not None and head.version == draft.version


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
            draft = await phase.run(
                draft, IndexingResources(writer, embedder, _name(phase, progress))
            )
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


def _name(phase: Phase, progress: Progress) -> Callable[[int, int], None]:
    return lambda done, total: progress(phase.name, done, total)
