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
from retrieval.index_store.example_store import (
    ExampleStore,
    StoredState,
    VerifiedExample,
)
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
    states = await store.list_embedded(database)
    latest = {pair.key: number for number, pair in enumerate(pairs, start=1)}
    stored = known = 0
    left_out: list[RejectedPair] = []
    slots = asyncio.Semaphore(_CONCURRENT)

    def is_known(pair: Pair, example: VerifiedExample) -> bool:
        had = present.get(example.id)
        if had is None or states[had.id] != StoredState(name):
            return False
        given_at = example.created_at if pair.verified_at else had.created_at
        return had == replace(example, tables=had.tables, created_at=given_at)

    async def verify(pair: Pair, example: VerifiedExample) -> VerifiedExample | Rejected:
        async with slots:
            columns = pair.columns.values()
            verified = await verifier.verify(database, example.sql, principal, columns)
        if isinstance(verified, Rejected):
            return verified
        return replace(example, tables=verified.tables)

    for start in range(0, len(pairs), _BATCH):
        fresh: list[tuple[int, Pair, VerifiedExample]] = []
        for number, pair in enumerate(pairs[start : start + _BATCH], start=start + 1):
            built = _build_example(database, pair, principal, dialect)
            if latest[pair.key] != number:
                built = Rejected("A later pair has the same question and roles.")
            if isinstance(built, Rejected):
                left_out.append(RejectedPair(number, pair.question, built.reason))
            elif is_known(pair, built):
                known += 1
            else:
                fresh.append((number, pair, built))
        outcomes = await gather_all(verify(pair, example) for _, pair, example in fresh)
        examples = []
        for (number, pair, _), outcome in zip(fresh, outcomes, strict=True):
            if isinstance(outcome, Rejected):
                left_out.append(RejectedPair(number, pair.question, outcome.reason))
            else:
                examples.append(outcome)
        if examples:
            vectors = await asyncio.to_thread(
                embedder.embed, [example.masked for example in examples]
            )
            await store.put(examples, vectors, name)
            stored += len(examples)
        progress(min(start + _BATCH, len(pairs)), len(pairs))
    return ImportReport(stored, known, tuple(sorted(left_out, key=lambda each: each.number)))


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
            created_at=datetime.combine(day, time.min, UTC) if day else None,
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
    embedders = await examples.list_embedded(database)
    if all(state.embedder == name for state in embedders.values()):
        return 0
    stale = [
        replace(example, masked=mask_example(example.question, example.sql, dialect))
        for example in await examples.list_examples(database)
        if example.id not in embedders or embedders[example.id].embedder != name
    ]
    for start in range(0, len(stale), _BATCH):
        batch = stale[start : start + _BATCH]
        vectors = await asyncio.to_thread(embedder.embed, [example.masked for example in batch])
        await examples.embed_again(batch, vectors, name)
        progress(start + len(batch), len(stale))
    return len(stale)
