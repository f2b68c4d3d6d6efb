"""The stages that need no GPU, as a service uses them: in one process, or each in a replica."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from execution.executor import ReadOnlyExecutor
from execution.guard.guard import SqlGuard
from nl2sql.protocols import (
    Conversations,
    Engine,
    Executor,
    Guard,
    Planner,
    Probe,
    Ranker,
    Repairer,
    Retriever,
)
from retrieval.catalogs import IndexedCatalogs
from retrieval.conversations import GuardedConversations
from retrieval.examples.feedback import FeedbackRecorder
from retrieval.index_store.store import IndexStore
from retrieval.planner import SchemaPlanner
from retrieval.retriever import HybridRetriever
from retrieval.schema_directory import SchemaDirectory
from retrieval.table_browser import IndexedTables
from serve_app.composition.wiring import Wiring


@dataclass(frozen=True, slots=True)
class CpuStages:
    """The stages that need no GPU, in this process or behind handles.

    ``probes`` find out whether they work, by name.
    """

    retriever: Retriever
    directory: SchemaDirectory
    tables: IndexedTables
    feedback: FeedbackRecorder
    conversations: Conversations
    planner: Planner
    guard: Guard
    executor: Executor
    ranker: Ranker
    repairer: Repairer
    probes: Mapping[str, Probe]

    @classmethod
    def build_here(
        cls, wiring: Wiring, engine: Engine, store: IndexStore, executor: ReadOnlyExecutor
    ) -> CpuStages:
        """All of them in this process, over the index and the databases.

        Raises SettingsError, PolicyError.
        """
        guard = wiring.build_guard(IndexedCatalogs(store))
        retrieval = build_retrieval(wiring, store, guard, executor)
        return cls(
            *retrieval,
            SchemaPlanner(wiring.settings.flags),
            guard,
            executor,
            wiring.build_ranker(guard, executor),
            wiring.build_repairer(engine),
            {"index": retrieval[0], "databases": executor, "policies": guard},
        )


def build_retrieval(
    wiring: Wiring, store: IndexStore, guard: SqlGuard, executor: Executor
) -> tuple[HybridRetriever, SchemaDirectory, IndexedTables, FeedbackRecorder, GuardedConversations]:
    """All that uses the index and the embedder. Raises SettingsError, PolicyError."""
    embedder = wiring.models.build_embedder()
    # Loaded now, so that the first question need not wait for it.
    embedder.load()
    memory = wiring.build_value_memory(store)
    definitions = wiring.build_semantic_layer(IndexedCatalogs(store), guard)
    glossary = wiring.build_glossary(memory, guard)
    return (
        wiring.build_retriever(store, embedder, guard, executor, memory, definitions),
        SchemaDirectory(guard, wiring.build_example_search(store, embedder, guard)),
        IndexedTables(guard, glossary, memory, definitions),
        wiring.build_feedback_recorder(store, embedder, guard, executor),
        wiring.build_conversations(store, guard),
    )
