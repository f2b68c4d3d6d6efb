"""Runs the model, the databases and the index in this process, without Ray or HTTP.

The evaluation uses it. One engine serves any number of pipelines,
whose settings may differ in everything except the model and the index.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from evaluation.runs.baseline import PlainBaseline
from execution.executor import ReadOnlyExecutor
from execution.guard.guard import SqlGuard
from nl2sql.pipeline.dialogue import Dialogue
from nl2sql.protocols import Engine
from retrieval.catalogs import IndexedCatalogs
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.store import IndexStore
from retrieval.planner import SchemaPlanner
from retrieval.retriever import HybridRetriever
from retrieval.values.dictionary import ValueMemory
from serve_app.composition.wiring import Wiring
from serve_app.reporting import Reporter
from serve_app.settings import Settings


@dataclass(frozen=True, slots=True)
class LocalParts:
    """The parts that pipelines in this process share."""

    wiring: Wiring
    engine: Engine
    store: IndexStore
    embedder: Embedder
    catalogs: IndexedCatalogs
    guard: SqlGuard
    executor: ReadOnlyExecutor
    values: ValueMemory

    def build_pipeline(self, settings: Settings) -> Dialogue:
        """The pipeline under ``settings``, which must name the same model and index.

        Loads the embedder now, so that the first question need not wait for it.
        """
        self.embedder.load()
        wiring = Wiring(settings, self.wiring.socket_folder)
        return wiring.build_pipeline(
            self.engine,
            retriever=self.build_retriever(settings),
            planner=SchemaPlanner(settings.flags),
            guard=self.guard,
            ranker=wiring.build_ranker(self.guard, self.executor),
            repairer=wiring.build_repairer(self.engine),
            sessions=wiring.build_conversations(self.store, self.guard),
        )

    def build_retriever(self, settings: Settings) -> HybridRetriever:
        """The retriever under ``settings``, over the shared index and embedder."""
        wiring = Wiring(settings, self.wiring.socket_folder)
        return wiring.build_retriever(
            self.store,
            self.embedder,
            self.guard,
            self.executor,
            self.values,
            wiring.build_semantic_layer(self.catalogs, self.guard),
        )

    def build_baseline(self, settings: Settings) -> PlainBaseline:
        """The plain baseline on the same engine."""
        return PlainBaseline(
            self.engine,
            self.catalogs,
            self.guard,
            self.executor,
            settings.sampling,
            settings.model.sends,
        )


@asynccontextmanager
async def open_parts(
    wiring: Wiring, reporter: Reporter, *, engine: Engine | None = None
) -> AsyncIterator[LocalParts]:
    """Loads the model and opens the parts until the block ends.

    ``engine`` replaces the configured model. Raises ModelError, EngineUnavailable.
    """
    async with AsyncExitStack() as stack:
        if engine is None:
            engine = await stack.enter_async_context(open_engine(wiring, reporter))
        store = wiring.build_index_store()
        stack.push_async_callback(store.close)
        catalogs = IndexedCatalogs(store)
        guard = wiring.build_guard(catalogs)
        executor = wiring.build_executor()
        stack.push_async_callback(executor.close)
        yield LocalParts(
            wiring,
            engine,
            store,
            wiring.models.build_embedder(),
            catalogs,
            guard,
            executor,
            wiring.build_value_memory(store),
        )


@asynccontextmanager
async def open_engine(wiring: Wiring, reporter: Reporter) -> AsyncIterator[Engine]:
    """The configured model, closed at the end. Raises ModelError, EngineUnavailable."""
    with reporter.step("Language model"):
        # In a thread, because other tasks of the event loop have time limits.
        engine = await asyncio.to_thread(wiring.models.open_engine)
    try:
        yield engine
    finally:
        await engine.close()
