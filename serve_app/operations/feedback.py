"""Exports feedback on answers from the index."""

from __future__ import annotations

import asyncio

from nl2sql.settings import Settings
from retrieval.index_store.feedback_note import FeedbackNote
from serve_app.composition.examples import open_examples
from serve_app.operations.preparation import build_wiring, start_embedded_server


async def list_feedback(settings: Settings, database: str) -> tuple[FeedbackNote, ...]:
    """All feedback on answers about ``database``. Raises SettingsError, IndexUnavailable."""
    server = await asyncio.to_thread(start_embedded_server, settings)
    async with open_examples(build_wiring(settings, server)) as examples:
        return await examples.list_feedback(database)
