"""Stores pairs as examples, and embeds examples again whose vectors are outdated.

New pairs are verified batch by batch, and known ones skipped. A batch is stored before the next one
starts, so a run that was killed continues where it stopped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time

from sqlglot.errors import SqlglotError

from nl2sql.concurrency import gather_all
from nl2sql.sql.parsing import describe_parse_error
from nl2sql.types import Principal
from retrieval.embedding.embedder import Embedder
from retrieval.examples.pairs import Pair
from retrieval.examples.records import (
    Rejected,
    Verifier,
    build_example,
    mask_example,
    name_vectors,
    strip_sql,
)
from retrieval.index_store.example_store import ExampleStore, VerifiedExample
from retrieval.index_store.store import IndexStore

_BATCH = 64
# Concurrent EXPLAINs: fewer than the default number of connections of any pool.
_CONCURRENT = 4

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class RejectedPair:
    """A pair that was rejected; ``number`` counts pairs from 1."""

    number: int
    question: str
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of a run: the numbers of new and of known pairs, and the rejected pairs."""

    stored: int
    known: int
    left_out: tuple[RejectedPair, ...]


async def import_pairs(
    database: str,
    pairs: Sequence[Pair],
    principal: Principal,
    *,
    dialect: str,
    store: ExampleStore,
    verifier: Verifier,
    embedder: Embedder,
    progress: Progress = lambda done, total: None,
) -> ImportReport:
    """Stores the pairs whose query ``principal`` may run; ``progress(done, total)`` counts pairs.

    A pair replaces an earlier file's with the same question and roles; the last of a file counts.
    Raises IndexUnavailable, DatabaseUnavailable, PolicyError, SettingsError for the embedder.
    """
    name = name_vectors(embedder.name)
    present = {example.id: example for example in await store.list_examples(database)}
    latest = {pair.key: number for number, pair in enumerate(pairs, start=1)}
    slots = asyncio.Semaphore(_CONCURRENT)

    async def verify(number: int, pair: Pair) -> VerifiedExample | RejectedPair | None:
        """The example to be stored, None if it is known."""
        example = _build_example(database, pair, principal, dialect)
        if latest[pair.key] != number:
            example = Rejected("A later pair has the same question and roles.")
        if isinstance(example, Rejected):
            return RejectedPair(number, pair.question, example.reason)
        if (had := present.get(example.id)) is not None:
            given_at = example.created_at if pair.verified_at else had.created_at
            same = replace(
                example,
                tables=had.tables,
                indexed_database=had.indexed_database,
                created_at=given_at,
                embedder=name,
            )
            if had == same:
                return None
        async with slots:
            columns = pair.columns.values()
            verified = await verifier.verify(database, example.sql, principal, columns)
        if isinstance(verified, Rejected):
            return RejectedPair(number, pair.question, verified.reason)
        return replace(example, tables=verified.tables, indexed_database=verified.catalog.database)

    stored = known = 0
    left_out: list[RejectedPair] = []
    for start in range(0, len(pairs), _BATCH):
        batch = enumerate(pairs[start : start + _BATCH], start=start + 1)
        outcomes = await gather_all(verify(number, pair) for number, pair in batch)
        left_out += [each for each in outcomes if isinstance(each, RejectedPair)]
        examples = [each for each in outcomes if isinstance(each, VerifiedExample)]
        if examples:
            vectors = await asyncio.to_thread(
                embedder.embed, [example.masked for example in examples]
            )
            await store.put(examples, vectors, name)
        stored, known = stored + len(examples), known + outcomes.count(None)
        progress(min(start + _BATCH, len(pairs)), len(pairs))
    return ImportReport(stored, known, tuple(left_out))


def _build_example(
    database: str, pair: Pair, principal: Principal, dialect: str
) -> VerifiedExample | Rejected:
    """The example of the pair with its default values, not verified yet."""
    day = pair.verified_at
    try:
        if error := pair.find_error(dialect):
            return Rejected(error)
        return build_example(
            database,
            pair.ask(),
            strip_sql(pair.bind(pair.defaults, dialect), dialect),
            (),
            dialect=dialect,
            source="file",
            given_by=pair.verified_by or principal.name,
            roles=pair.roles,
            created_at=datetime.combine(day, time.min, UTC) if day else datetime.now(UTC),
            title=pair.title,
            pattern=pair.write_pattern(),
            asked=pair.question,
        )
    except (SqlglotError, RecursionError) as error:
        return Rejected(f"It is not valid SQL: {describe_parse_error(error)}")


async def refresh_examples(
    database: str,
    dialect: str,
    store: IndexStore,
    embedder: Embedder,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Returns the number of examples embedded; 0, without loading the model, if none is outdated.

    Stored batch by batch, so that a killed run keeps its finished batches. Raises IndexUnavailable,
    and SettingsError if the embedder cannot be loaded.
    """
    examples = ExampleStore(store)
    name = name_vectors(embedder.name)
    stale = [
        replace(example, masked=mask_example(example.question, example.sql, dialect))
        for example in await examples.list_examples(database)
        if example.embedder != name
    ]
    for start in range(0, len(stale), _BATCH):
        batch = stale[start : start + _BATCH]
        vectors = await asyncio.to_thread(embedder.embed, [example.masked for example in batch])
        await examples.embed_again(batch, vectors, name)
        progress(start + len(batch), len(stale))
    return len(stale)
