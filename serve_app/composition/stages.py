"""The stages that need no GPU, as a service uses them: in one process, or each in a replica."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from execution.executor import ReadOnlyExecutor
from execution.guard.guard import SqlGuard
from generation.sampling.generator import CandidateGenerator
from nl2sql.pipeline.dialogue import Dialogue
from nl2sql.pipeline.pipeline import Pipeline
from nl2sql.pipeline.stages import Stages
from nl2sql.protocols import Engine, Executor, Guard, Planner, Probe, Ranker, Repairer, Retriever
from repair.repairer import CandidateRepairer
from retrieval.conversations import GuardedConversations
from retrieval.embedding.embedder import Embedder
from retrieval.examples.feedback import FeedbackRecorder
from retrieval.examples.records import Verifier
from retrieval.examples.selector import ExampleSelector
from retrieval.glosses import IndexedGlossary
from retrieval.index_store.store import IndexStore
from retrieval.index_store.value_store import ValueStore
from retrieval.planner import SchemaPlanner
from retrieval.retriever import HybridRetriever
from retrieval.schema_directory import SchemaDirectory
from retrieval.semantics.layer import SemanticLayer
from retrieval.values.dictionary import ValueMemory
from retrieval.values.search import IndexedValueSearch
from retrieval.vocabulary.terms import load_synonyms
from serve_app.composition.wiring import Wiring
from serve_app.settings import Settings


@dataclass(frozen=True, slots=True)
class CpuStages:
    """The stages that need no GPU, in this process or behind handles.

    ``probes`` find out whether they work, by name.
    """

    retriever: Retriever
    directory: SchemaDirectory
    feedback: FeedbackRecorder
    conversations: GuardedConversations
    planner: Planner
    guard: Guard
    executor: Executor
    ranker: Ranker
    repairer: Repairer
    probes: Mapping[str, Probe]

    @classmethod
    def build_here(
        cls,
        wiring: Wiring,
        engine: Engine,
        store: IndexStore,
        executor: ReadOnlyExecutor,
        embedder: Embedder | None = None,
    ) -> CpuStages:
        """All of them in this process, over the index and the databases.

        ``embedder`` is by default that of the settings. Raises SettingsError, PolicyError.
        """
        guard = wiring.build_guard(store)
        retrieval = build_retrieval(wiring, store, guard, executor, embedder)
        return cls(
            *retrieval,
            SchemaPlanner(wiring.settings.flags),
            guard,
            executor,
            wiring.build_ranker(guard, executor),
            CandidateRepairer(engine, wiring.settings),
            {"index": retrieval[0], "databases": executor, "policies": guard},
        )

    def build_pipeline(self, settings: Settings, engine: Engine) -> Dialogue:
        """The pipeline over these stages, and the dialogue around it."""
        generator = CandidateGenerator(engine, settings)
        pipeline = Pipeline(
            Stages(self.retriever, self.planner, generator, self.guard, self.ranker, self.repairer),
            derives=settings.repair.derived > 0,
            model_repair=settings.flags.model_repair,
            pre_sql=settings.flags.pre_sql,
            sampling_timeout_s=settings.limits.sampling_timeout_ms / 1000 or None,
        )
        return Dialogue(pipeline, generator, self.conversations)


def build_retrieval(
    wiring: Wiring,
    store: IndexStore,
    guard: SqlGuard,
    executor: Executor,
    embedder: Embedder | None = None,
) -> tuple[HybridRetriever, SchemaDirectory, FeedbackRecorder, GuardedConversations]:
    """All that uses the index and the embedder.

    Raises SettingsError, also for files of synonyms or definitions that cannot be read.
    """
    settings = wiring.settings
    embedder = embedder or wiring.models.build_embedder()
    # Loaded now, so that the first question need not wait for it.
    embedder.load()
    memory = ValueMemory(ValueStore(store))
    examples = ExampleSelector(store, embedder, guard, guard, settings.retrieval)
    synonyms = {
        name: load_synonyms(database.synonyms)
        for name, database in settings.databases.items()
        if database.synonyms is not None
    }
    glossary = IndexedGlossary(memory, guard, synonyms)
    dialects = {name: database.dialect for name, database in settings.by_name.items()}
    definitions = SemanticLayer(wiring.read_definitions(settings.databases), store, guard)
    retriever = HybridRetriever(
        store,
        embedder,
        guard,
        settings.retrieval,
        settings.flags,
        values=IndexedValueSearch(memory, guard, guard, executor),
        examples=examples,
        glossary=glossary,
        definitions=definitions,
    )
    return (
        retriever,
        SchemaDirectory(guard, glossary, definitions=definitions, examples=examples),
        FeedbackRecorder(store, Verifier(guard, guard, executor), embedder, dialects),
        wiring.build_conversations(store, guard),
    )
