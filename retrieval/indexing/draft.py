"""The phases of an indexing job, their shared resources and the draft that they build."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from nl2sql.catalog import Catalog
from nl2sql.skipped import Skipped
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.cards import Cards
from retrieval.index_store.head import IndexHead
from retrieval.index_store.index_writer import IndexWriter

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
class Workbench:
    """Resources of all phases; ``writer`` holds the database's lock for the whole job."""

    writer: IndexWriter
    embedder: Embedder
    progress: PhaseProgress


@dataclass(frozen=True, slots=True)
class Phase:
    """One step of the job. The progress bar shows ``name``."""

    name: str
    run: Callable[[Draft, Workbench], Awaitable[Draft]]
