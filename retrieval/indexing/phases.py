"""The phases of every job: build cards, embed them, write the index.

If the index is current, nothing is embedded or written. The caller adds further phases: reading the
schema, inferring keys, writing glosses, reading values.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import replace

from nl2sql.catalog import Catalog
from retrieval.index_store.cards import Cards, build_cards
from retrieval.index_store.generation_writer import NewGeneration
from retrieval.indexing.draft import Draft, Phase, Workbench

# Texts in a commit, so the most that an interrupted run loses. The embedder sorts them by length.
_BATCH = 128


async def make_cards(draft: Draft, bench: Workbench) -> Draft:
    """Builds the cards, and the version that shows whether the index is current."""
    cards = await asyncio.to_thread(build_cards, draft.catalog, draft.glosses)
    version = index_version(draft.catalog, cards, bench.embedder.name)
    return replace(draft, cards=cards, version=version)


async def embed_cards(draft: Draft, bench: Workbench) -> Draft:
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


async def write_index(draft: Draft, bench: Workbench) -> Draft:
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


def give_catalog(catalog: Catalog, glosses: Mapping[str, str]) -> tuple[Phase, ...]:
    """The first phase of a job for a given schema and glosses."""

    async def start(draft: Draft, bench: Workbench) -> Draft:
        return replace(
            draft,
            catalog=catalog,
            fingerprint=replace(catalog, inferred_keys=()).fingerprint,
            skipped=catalog.skipped,
            glosses=glosses,
        )

    return (Phase("schema", start),)


async def _is_current(draft: Draft, bench: Workbench) -> bool:
    head = await bench.writer.head()
    return head is not None and head.version == draft.version
