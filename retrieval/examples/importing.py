"""Pairs become examples: each verified, those that are there already skipped, batch by batch.

A batch is stored whole before the next is begun, so a run that is killed and started again goes on
where it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot.errors import SqlglotError

from nl2sql.concurrency import gather_all
from nl2sql.sql.normal_form import normal_form
from nl2sql.types import Principal
from retrieval.embedding.embedder import Embedder
from retrieval.examples.files import Pair
from retrieval.examples.masking import name_vectors
from retrieval.examples.records import build_example, identify_example, strip_sql
from retrieval.examples.verification import Rejected, Verifier
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.verified_example import VerifiedExample

_BATCH = 64
# EXPLAINs at a time: fewer than any pool has connections by default.
_SIDE_BY_SIDE = 4

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A pair that is no example; ``number`` counts pairs from 1."""

    number: int
    question: str
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What one run did: examples stored, those that were there, and the pairs left out."""

    stored: int
    known: int
    left_out: tuple[LeftOut, ...]


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
    """Stores what is verified as ``principal``; ``progress(done, total)`` counts pairs.

    Raises IndexUnavailable, DatabaseUnavailable, PolicyError, SettingsError for the embedder.
    """
    name = name_vectors(embedder.name)
    present = await store.list_embedded(database)
    stored = known = 0
    left_out: list[LeftOut] = []
    slots = asyncio.Semaphore(_SIDE_BY_SIDE)

    async def verify(pair: Pair) -> VerifiedExample | Rejected:
        async with slots:
            verified = await verifier.verify(database, pair.sql, principal)
        if isinstance(verified, Rejected):
            return verified
        return build_example(
            database,
            pair.question,
            verified.sql,
            verified.tables,
            dialect=dialect,
            source=pair.source,
            given_by=pair.given_by or principal.name,
            access=pair.access,
            roles=pair.roles,
            created_at=pair.created_at,
        )

    for start in range(0, len(pairs), _BATCH):
        fresh: dict[str, tuple[int, Pair]] = {}
        for number, pair in enumerate(pairs[start : start + _BATCH], start=start + 1):
            id_ = _identify(database, pair, dialect)
            as_it_is = (name, tuple(sorted(set(pair.roles))))
            if id_ in fresh or present.get(id_) == as_it_is:
                known += 1
            else:
                fresh[id_] = (number, pair)
                present[id_] = as_it_is
        outcomes = await gather_all(verify(pair) for _, pair in fresh.values())
        examples = []
        for (number, pair), outcome in zip(fresh.values(), outcomes, strict=True):
            if isinstance(outcome, Rejected):
                left_out.append(LeftOut(number, pair.question, outcome.reason))
            else:
                examples.append(outcome)
        if examples:
            vectors = await asyncio.to_thread(
                embedder.embed, [example.masked for example in examples]
            )
            await store.put(examples, vectors, name)
            stored += len(examples)
        progress(min(start + _BATCH, len(pairs)), len(pairs))
    return ImportReport(stored, known, tuple(left_out))


def _identify(database: str, pair: Pair, dialect: str) -> str:
    try:
        sql = strip_sql(pair.sql, dialect)
    except SqlglotError:
        sql = pair.sql  # the verifier will say what is wrong with it
    return identify_example(database, pair.question, normal_form(sql, dialect), pair.access)
