"""Runs the model, the databases and the index in this process, without Ray or HTTP.

One engine serves any number of pipelines, whose settings may differ in everything except the model
and the index.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

from execution.executor import ReadOnlyExecutor
from nl2sql.concurrency import closing
from nl2sql.pipeline.dialogue import Dialogue
from nl2sql.protocols import Engine
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.store import IndexStore
from serve_app.composition.stages import CpuStages
from serve_app.composition.wiring import Wiring
from serve_app.reporting import Reporter
from serve_app.settings import Settings


@dataclass(frozen=True, slots=True)
class LocalParts:
    """The parts that pipelines in this process share."""

    wiring: Wiring
    engine: Engine
    store: IndexStore
    executor: ReadOnlyExecutor
    embedder: Embedder

    def build_stages(self, settings: Settings) -> CpuStages:
        """The stages under ``settings``, which must name the same model and index."""
        wiring = Wiring(settings, self.wiring.socket_folder)
        return CpuStages.build_here(wiring, self.engine, self.store, self.executor, self.embedder)

    def build_pipeline(self, settings: Settings) -> Dialogue:
        """The pipeline under ``settings``."""
        return self.build_stages(settings).build_pipeline(settings, self.engine)


@asynccontextmanager
async def open_parts(
    wiring: Wiring, reporter: Reporter, *, engine: Engine | None = None
) -> AsyncIterator[LocalParts]:
    """Loads the model and opens the parts until the block ends.

    ``engine`` replaces the configured model. Raises ModelError, EngineUnavailable.
    """
    async with (
        nullcontext(engine) if engine is not None else open_engine(wiring, reporter) as engine,
        closing(wiring.build_index_store()) as store,
        closing(wiring.build_executor()) as executor,
    ):
        yield LocalParts(wiring, engine, store, executor, wiring.models.build_embedder())


@asynccontextmanager
async def open_engine(wiring: Wiring, reporter: Reporter) -> AsyncIterator[Engine]:
    """The configured model, closed at the end. Raises ModelError, EngineUnavailable."""
    with reporter.step("Language model"):
        # In a thread, because other tasks of the event loop have time limits.
        engine = await asyncio.to_thread(wiring.models.open_engine)
    async with closing(engine):
        yield engine
