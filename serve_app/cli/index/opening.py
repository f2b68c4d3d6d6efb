"""Opens the index store for commands that do not build an index."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nl2sql.settings import Settings
from retrieval.index_store.store import IndexStore
from serve_app.composition.wiring import Wiring
from serve_app.operations.preparation import build_wiring, start_embedded_server


@asynccontextmanager
async def open_index(settings: Settings) -> AsyncIterator[tuple[Wiring, IndexStore]]:
    """Yields the wiring and its store until the block ends; starts the embedded server.

    Raises SettingsError, DatabaseUnavailable.
    """
    wiring = build_wiring(settings, start_embedded_server(settings))
    store = wiring.build_index_store()
    try:
        yield wiring, store
    finally:
        await store.close()
