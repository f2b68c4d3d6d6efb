"""The indexing job of a configured database: its phases and their progress."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from nl2sql.catalog import Catalog, ForeignKey
from nl2sql.errors import QuorumError, ServerUnavailable, SettingsError, Unavailable
from nl2sql.settings.database import DatabaseSettings
from nl2sql.skipped import Skipped, count, describe_skipped, list_remedies
from retrieval.examples.importing import refresh_examples
from retrieval.glosses import build_glosses
from retrieval.index_store.store import IndexStore
from retrieval.index_store.value_store import ValueStore
from retrieval.indexing import (
    CORE_PHASES,
    Draft,
    IndexingResources,
    IndexReport,
    Phase,
    PhaseProgress,
    Progress,
    describe_catalog,
    run_job,
)
from retrieval.joins.inference import infer_keys
from retrieval.values.refresh import refresh_values
from serve_app.composition.wiring import Wiring
from serve_app.reporting import Reporter, StepProgress


@dataclass(frozen=True, slots=True)
class DatabaseJob:
    """Indexes one database. ``descriptions`` replace missing comments of tables and columns."""

    wiring: Wiring
    database: str
    store: IndexStore
    descriptions: Mapping[str, str]

    def phases(self) -> tuple[Phase, ...]:
        """The phases in order: the index and its swap, then values and examples beside it."""
        return (
            Phase("reading the schema", self._read_schema),
            Phase("inferring keys", self._infer_keys),
            Phase("describing columns", self._describe),
            *CORE_PHASES,
            Phase("reading values", self._refresh_values),
            Phase("examples", self._refresh_examples),
        )

    async def _read_schema(self, draft: Draft, bench: IndexingResources) -> Draft:
        read = await asyncio.to_thread(self.wiring.source(self.database).read_catalog)
        catalog = describe_catalog(read, self.descriptions)
        fingerprint = fingerprint_schema(self.wiring, catalog)
        return replace(draft, catalog=catalog, fingerprint=fingerprint, skipped=read.skipped)

    async def _infer_keys(self, draft: Draft, bench: IndexingResources) -> Draft:
        """Infers keys from sampled rows; reuses those of the live index for the same schema."""
        head = await bench.writer.head()
        if head is not None and head.fingerprint == draft.fingerprint:
            keys = (await self.store.load_catalog(head)).inferred_keys
        else:
            keys = await asyncio.to_thread(self._sample_keys, draft.catalog, bench.progress)
        catalog = replace(draft.catalog, inferred_keys=keys)
        note = f"{count(len(keys), 'key')} inferred" if keys else ""
        return replace(draft, catalog=catalog).with_note(note)

    def _sample_keys(self, catalog: Catalog, progress: PhaseProgress) -> tuple[ForeignKey, ...]:
        with self.wiring.source(self.database) as sampler:
            return infer_keys(catalog, sampler, progress=progress)

    async def _describe(self, draft: Draft, bench: IndexingResources) -> Draft:
        # General synonyms are applied to the question instead, where they can weigh less than the
        # words of the schema.
        synonyms = self.wiring.read_synonyms(self.database, draft.catalog)
        glosses = await asyncio.to_thread(build_glosses, draft.catalog, synonyms)
        return replace(draft, glosses=glosses)

    async def _refresh_values(self, draft: Draft, bench: IndexingResources) -> Draft:
        report = await refresh_values(
            draft.catalog,
            ValueStore(self.store),
            self.wiring.source(self.database),
            self.wiring.read_synonyms(self.database, draft.catalog),
            skip=self.wiring.settings.databases[self.database].skip_values,
            progress=bench.progress,
        )
        return draft.with_note(report.describe())

    async def _refresh_examples(self, draft: Draft, bench: IndexingResources) -> Draft:
        dialect = self.wiring.settings.databases[self.database].dialect
        count = await refresh_examples(
            self.database, dialect, self.store, bench.embedder, progress=bench.progress
        )
        return draft.with_note(f"{count:,} examples embedded anew" if count else "")


def fingerprint_schema(wiring: Wiring, catalog: Catalog) -> str:
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
    store = wiring.build_index_store()
    embedder = wiring.models.build_embedder()
    reports: list[IndexReport] = []
    failures: list[tuple[str, QuorumError]] = []
    try:
        for name in names:
            job = DatabaseJob(wiring, name, store, descriptions.get(name, {}))
            try:
                with reporter.step(f"Index of {name}") as step:
                    report = await run_job(
                        name, job.phases(), store, embedder, progress=_follow(step)
                    )
                    step.finish(_describe(report))
            except (Unavailable, SettingsError) as error:
                failures.append((name, error))
                continue
            for line in describe_skipped(report.skipped):
                reporter.warn(f"{name}: {line}")
            if not report.tables:
                settings = wiring.settings.databases[name]
                reporter.warn(describe_emptiness(name, settings, report.skipped))
            reports.append(report)
    finally:
        await store.close()
    # What is raised is told by the caller.
    raised = failures[:1] if strict or not reports else []
    for name, failure in failures[len(raised) :]:
        said = failure.details if isinstance(failure, ServerUnavailable) else str(failure)
        reporter.warn(f"{name} was not indexed: {said}")
    for _, failure in raised:
        raise failure
    return reports


def _follow(step: StepProgress) -> Progress:
    return lambda phase, done, total: step.update(done, total or None, phase)


def _describe(report: IndexReport) -> str:
    done = f"{count(report.embedded, 'card')} embedded" if report.changed else "unchanged"
    counts = (count(report.tables, "table"), count(report.columns, "column"))
    return ", ".join((*counts, done, *report.notes))


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
    return (
        f"{database} has no table{where} to ask about.\n"
        f"Create one{other}; then run `quorumsql index build {database}`."
    )
