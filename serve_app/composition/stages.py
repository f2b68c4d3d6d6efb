"""The stages that need no GPU, as a service uses them: in one process, or each in a replica."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from execution.executor import ReadOnlyExecutor
from nl2sql.browsing import TableBrowser
from nl2sql.protocols import (
    CatalogSource,
    DatabaseAccess,
    Engine,
    Executor,
    FeedbackTaker,
    Guard,
    Planner,
    Probe,
    Ranker,
    Repairer,
    Retriever,
    SchemaReader,
    Sessions,
)
from retrieval.catalogs import IndexedCatalogs
from retrieval.index_store.store import IndexStore
from serve_app.composition.wiring import Wiring


class RetrievalStage(
    Retriever,
    FeedbackTaker,
    Sessions,
    DatabaseAccess,
    SchemaReader,
    TableBrowser,
    Probe,
    Protocol,
):
    """Stages 1 and 2, feedback, sessions and descriptions of databases."""


class ExecutionStage(Guard, Executor, Probe, Protocol):
    """The guard, and the executor behind it."""


class GuardedExecutor:
    """The security boundary: the guard, and the read-only executor behind it."""

    def __init__(self, wiring: Wiring, catalogs: CatalogSource | None = None) -> None:
        """``catalogs`` is by default that of an index store that it opens.

        Raises SettingsError, PolicyError.
        """
        self.sql_guard = wiring.build_guard(catalogs)
        self._executor = ReadOnlyExecutor(wiring.build_databases())
        self.guard = self.sql_guard.guard
        self.explain = self._executor.explain
        self.execute = self._executor.execute
        self.close = self._executor.close

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """The databases, and the policies that guard them."""
        return (*await self._executor.probe(), *await self.sql_guard.probe())


class Retrieval:
    """All that uses index and embedder: see ``RetrievalStage``."""

    def __init__(self, wiring: Wiring, executor: Executor, store: IndexStore | None = None) -> None:
        """``store`` is by default one that it opens."""
        store = store or wiring.build_index_store()
        embedder = wiring.models.build_embedder()
        # Loaded now, so that the first question need not wait for it.
        embedder.load()
        catalogs = IndexedCatalogs(store)
        guard = wiring.build_guard(catalogs)
        memory = wiring.build_value_memory(store)
        definitions = wiring.build_semantic_layer(catalogs)
        retriever = wiring.build_retriever(store, embedder, guard, executor, memory, definitions)
        feedback = wiring.build_feedback_recorder(store, embedder, guard, executor)
        sessions = wiring.build_sessions(store, guard)
        self.retrieve = retriever.retrieve
        self.list_beginnings = retriever.list_beginnings
        self.probe = retriever.probe
        self.take_feedback = feedback.take_feedback
        self.recall = sessions.recall
        self.remember = sessions.remember
        self.forget = sessions.forget
        directory = wiring.build_schema_directory(store, embedder, guard)
        self.list_admitted = directory.list_admitted
        self.describe_tables = directory.describe_tables
        self.list_examples = directory.list_examples
        browser = wiring.build_table_browser(guard, executor, memory, definitions)
        self.find_tables = browser.find_tables
        self.describe_table = browser.describe_table
        self.list_definitions = browser.list_definitions


@dataclass(frozen=True, slots=True)
class CpuStages:
    """The stages that need no GPU, in this process or behind handles."""

    retrieval: RetrievalStage
    planner: Planner
    executor: ExecutionStage
    ranker: Ranker
    repairer: Repairer

    @classmethod
    def build_here(
        cls, wiring: Wiring, engine: Engine, store: IndexStore, executor: GuardedExecutor
    ) -> CpuStages:
        """Builds all others of them in this process too."""
        return cls(
            Retrieval(wiring, executor, store),
            wiring.build_planner(engine),
            executor,
            wiring.build_ranker(executor, executor),
            wiring.build_repairer(engine),
        )
