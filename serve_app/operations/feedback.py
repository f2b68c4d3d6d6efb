"""Exports feedback on answers from the index, and imports it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from nl2sql.settings import Settings
from nl2sql.types import Principal
from retrieval.examples.feedback_import import import_feedback
from retrieval.examples.importing import ImportReport
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.feedback_note import FeedbackNote
from serve_app.composition.examples import describe_import, open_examples, open_verifying_parts
from serve_app.operations.preparation import build_wiring, prepare, start_embedded_server
from serve_app.reporting import Reporter


async def list_feedback(settings: Settings, database: str) -> tuple[FeedbackNote, ...]:
    """All feedback on answers about ``database``. Raises SettingsError, IndexUnavailable."""
    server = await asyncio.to_thread(start_embedded_server, settings)
    async with open_examples(build_wiring(settings, server)) as examples:
        return await examples.list_feedback(database)


async def add_feedback(
    settings: Settings,
    database: str,
    notes: Sequence[FeedbackNote],
    principal: Principal,
    reporter: Reporter,
) -> ImportReport:
    """Stores the entries that pass the guard and EXPLAIN as ``principal``.

    Raises Unavailable, PolicyError, SettingsError.
    """
    wiring = await prepare(settings, reporter, databases=[database])
    async with open_verifying_parts(wiring) as parts:
        with reporter.step(f"Feedback of {database}") as step:
            report = await import_feedback(
                database,
                notes,
                principal,
                store=ExampleStore(parts.store),
                recorder=wiring.build_feedback_recorder(
                    parts.store, wiring.models.build_embedder(), parts.guard, parts.executor
                ),
                progress=step.update,
            )
            step.finish(describe_import(report))
    return report
