"""The indexing job of configured databases: its phases and their progress."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from nl2sql.catalog import Catalog, ForeignKey, Skipped
from nl2sql.concurrency import closing
from nl2sql.errors import QuorumError, ServerUnavailable, SettingsError, Unavailable
from nl2sql.settings.database import DatabaseSettings
from nl2sql.words import count
from retrieval.embedding.embedder import Embedder
from retrieval.examples.importing import refresh_examples
from retrieval.glosses import build_glosses
from retrieval.index_store.store import IndexStore
from retrieval.index_store.value_store import ValueStore
from retrieval.indexing import Progress, update_index
from retrieval.introspection.source_database import SourceDatabase
from retrieval.joins.inference import infer_keys
from retrieval.values.refresh import refresh_values
from serve_app.composition.wiring import Wiring
from serve_app.operations.skipped_objects import describe_skipped, list_remedies
from serve_app.reporting import Reporter, StepProgress


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The result of a run; ``notes`` say in words what it did."""

    tables: int
    columns: int
    embedded: int
    is_changed: bool
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]

    def describe(self) -> str:
        """One line with the counts and the notes."""
        done = f"{count(self.embedded, 'card')} embedded" if self.is_changed else "unchanged"
        counts = (count(self.tables, "table"), count(self.columns, "column"))
        return ", ".join((*counts, done, *self.notes))


async def index_database(
    wiring: Wiring,
    database: str,
    store: IndexStore,
    embedder: Embedder,
    descriptions: Mapping[str, str] = MappingProxyType({}),
    progress: Callable[[str, int, int], None] = lambda phase, done, total: None,
) -> IndexReport:
    """Indexes one database: its schema with a swap, then values and examples beside it.

    ``descriptions`` replace missing comments of tables and columns. ``progress`` is called with a
    phase, what is done, and the total or 0. Keys are inferred from sampled rows; those of the
    present index stay while the schema is the same.
    """

    def begin(phase: str) -> Progress:
        progress(phase, 0, 0)
        return partial(progress, phase)

    source = wiring.source(database)
    await store.prepare()
    async with store.writer(database, lambda: progress("waiting for another run", 0, 0)) as writer:
        begin("reading the schema")
        catalog = await asyncio.to_thread(wiring.read_described, database, descriptions)
        fingerprint = fingerprint_schema(catalog)
        present = await writer.load()
        if present is not None and present.head.fingerprint == fingerprint:
            keys = present.catalog.inferred_keys
        else:
            keys = await asyncio.to_thread(_sample_keys, source, catalog, begin("inferring keys"))
        catalog = replace(catalog, inferred_keys=keys)
        begin("describing columns")
        # General synonyms are applied to the question instead, where they can weigh less than the
        # words of the schema.
        synonyms = wiring.read_synonyms(database, catalog)
        glosses = await asyncio.to_thread(build_glosses, catalog, synonyms)
        embedded = await update_index(
            writer,
            embedder,
            catalog,
            glosses,
            present=present,
            fingerprint=fingerprint,
            progress=begin("embedding"),
        )
        values = await refresh_values(
            catalog,
            ValueStore(store),
            source,
            synonyms,
            skip=wiring.settings.databases[database].skip_values,
            progress=begin("reading values"),
        )
        anew = await refresh_examples(
            database, catalog.dialect, store, embedder, progress=begin("examples")
        )
    notes = (
        f"{count(len(keys), 'key')} inferred" if keys else "",
        values.describe(),
        f"{anew:,} examples embedded anew" if anew else "",
    )
    return IndexReport(
        len(catalog.tables),
        sum(len(table.columns) for table in catalog.tables),
        embedded or 0,
        embedded is not None,
        catalog.skipped,
        tuple(filter(None, notes)),
    )


def _sample_keys(
    source: SourceDatabase[Any], catalog: Catalog, progress: Progress
) -> tuple[ForeignKey, ...]:
    with source as sampler:
        return infer_keys(catalog, sampler, progress=progress)


def fingerprint_schema(catalog: Catalog) -> str:
    """A hash that changes with the schema of ``catalog``."""
    return replace(catalog, inferred_keys=()).fingerprint[:32]


async def index_databases(
    wiring: Wiring,
    names: Sequence[str],
    reporter: Reporter,
    *,
    descriptions: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    strict: bool = True,
) -> list[IndexReport]:
    """Brings the index of the named databases up to date.

    If one fails, the others are still indexed. Its error is reported, and raised at the end if
    ``strict`` or if all failed. ``descriptions`` contains, by database, texts for tables and
    columns without a comment.
    """
    embedder = wiring.models.build_embedder()
    reports: list[IndexReport] = []
    failures: list[tuple[str, QuorumError]] = []
    async with closing(wiring.build_index_store()) as store:
        for name in names:
            try:
                with reporter.step(f"Index of {name}") as step:
                    report = await index_database(
                        wiring, name, store, embedder, descriptions.get(name, {}), _follow(step)
                    )
                    step.finish(report.describe())
            except (Unavailable, SettingsError) as error:
                failures.append((name, error))
                continue
            for line in describe_skipped(report.skipped):
                reporter.warn(f"{name}: {line}")
            if not report.tables:
                settings = wiring.settings.databases[name]
                reporter.warn(describe_emptiness(name, settings, report.skipped))
            reports.append(report)
    # What is raised is told by the caller.
    raised = failures[:1] if strict or not reports else []
    for name, failure in failures[len(raised) :]:
        said = failure.details if isinstance(failure, ServerUnavailable) else str(failure)
        reporter.warn(f"{name} was not indexed: {said}")
    for _, failure in raised:
        raise failure
    return reports


def _follow(step: StepProgress) -> Callable[[str, int, int], None]:
    return lambda phase, done, total: step.update(done, total or None, phase)


def describe_emptiness(
    database: str, settings: DatabaseSettings, skipped: Sequence[Skipped]
) -> str:
    """Why no table of a database can be asked about, and what to do: statements or settings."""
    if remedies := list_remedies(skipped):
        return "\n".join(
            (
                f"The reader cannot SELECT from any table of {database}: it cannot be asked about.",
                "As the owner of the tables, for those to be asked about:",
                *remedies,
            )
        )
    key = f"databases.{database}.schemas"
    if any(item.kind == "schema" for item in skipped):
        return f"{database} has none of the schemas in {key}.\nCorrect {key}."
    where = f" in {', '.join(settings.schemas)}" if settings.schemas else ""
    other = f", or name other schemas in {key}" if settings.schemas else ""
    way = ""
    if settings.reader.is_embedded:
        name = settings.reader.embedded_database(database)
        way = f" while `quorumsql serve` runs, with `psql -h HOME/postgres -U postgres {name}`"
    return (
        f"{database} has no table{where} to ask about.\n"
        f"Create one{way}{other}; then run `quorumsql index build {database}`."
    )
