"""Embeds examples again whose vectors come from another embedder or an older masking."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from retrieval.embedding.embedder import Embedder
from retrieval.examples.masking import name_vectors
from retrieval.examples.records import mask_example
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.store import IndexStore

_BATCH = 64


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
    if all(embedder_name == name for embedder_name, _ in embedders.values()):
        return 0
    stale = [
        replace(example, masked=mask_example(example.question, example.sql, dialect))
        for example in await examples.list_examples(database)
        if embedders.get(example.id, ("", ()))[0] != name
    ]
    for start in range(0, len(stale), _BATCH):
        batch = stale[start : start + _BATCH]
        vectors = await asyncio.to_thread(embedder.embed, [example.masked for example in batch])
        await examples.put(batch, vectors, name)
        progress(start + len(batch), len(stale))
    return len(stale)
