"""The planted database behind the whole service, and beside it what each principal may see."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from execution.postgres.embedded import EmbeddedServer
from retrieval.examples.importing import import_pairs
from retrieval.examples.pairs import Pair
from retrieval.examples.records import Verifier
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.feedback_store import Feedback
from serve_app.composition.local import LocalParts, open_parts
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import index_database
from serve_app.reporting import SilentReporter
from tests.attacks.injections.injection import SAID, STORED, ObeyingEngine
from tests.attacks.injections.planted import DATABASE, PRINCIPALS, build_settings, open_stage
from tests.attacks.injections.service import Service
from tests.fakes import FakeEmbedder
from tests.oracle.stage import PostgresStage


@pytest.fixture(scope="session")
def stage(embedded_server: EmbeddedServer) -> Iterator[PostgresStage]:
    """The planted database, and a copy of it for each principal."""
    built = open_stage(embedded_server, (*STORED, *SAID))
    yield built
    built.close()


@pytest.fixture(scope="session")
def service(embedded_server: EmbeddedServer, stage: PostgresStage) -> Iterator[Service]:
    """All stages but the model, over the planted database, on one event loop."""
    home = Path(tempfile.mkdtemp(prefix="injections-"))
    settings = build_settings(home, stage, STORED)
    wiring = Wiring(settings, embedded_server.socket_folder)
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        yield Service(runner, runner.run(_open(stack, wiring)), stage)
        runner.run(stack.aclose())
    shutil.rmtree(home, ignore_errors=True)


async def _open(stack: AsyncExitStack, wiring: Wiring) -> LocalParts:
    opened = await stack.enter_async_context(
        open_parts(wiring, SilentReporter(), engine=ObeyingEngine())
    )
    parts = replace(opened, embedder=FakeEmbedder(wiring.settings.index.embedder))
    await index_database(wiring, DATABASE, parts.store, parts.embedder)
    await _store_examples(wiring, parts)
    return parts


async def _store_examples(wiring: Wiring, parts: LocalParts) -> None:
    """Those of files through the import, those of users through the recorder."""
    stages = parts.build_stages(wiring.settings)
    guard: Any = stages.guard
    report = await import_pairs(
        DATABASE,
        [
            Pair(question=injection.example, sql=injection.target)
            for injection in STORED
            if injection.place == "example"
        ],
        PRINCIPALS["boss"],
        dialect="postgres",
        store=ExampleStore(parts.store),
        verifier=Verifier(guard, guard, parts.executor),
        embedder=parts.embedder,
    )
    assert not report.left_out, report
    for injection in STORED:
        if injection.place == "feedback":
            giver = replace(PRINCIPALS["mia" if injection.shown else "boss"], name="giver")
            receipt = await stages.feedback.take_feedback(
                Feedback(DATABASE, injection.text, injection.target, is_right=True, principal=giver)
            )
            assert receipt.outcome == "stored", receipt
