"""Builds the implementation of each stage from the settings; no other module does.

A ``Wiring`` is a small value that is sent between processes; every replica builds its own pools and
models from it. Passwords are read where they are used, so they are never sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from execution.executor import ReadOnlyExecutor
from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.policy_file import load_policy
from execution.postgres.embedded import INDEX_DATABASE, INDEXER, READER, build_embedded_url
from generation.sampling.generator import CandidateGenerator
from nl2sql.catalog import Catalog
from nl2sql.pipeline.dialogue import Dialogue
from nl2sql.pipeline.pipeline import Pipeline
from nl2sql.pipeline.stages import Stages
from nl2sql.protocols import (
    CatalogSource,
    Conversations,
    Engine,
    Executor,
    Guard,
    Planner,
    Ranker,
    Repairer,
    Retriever,
)
from nl2sql.settings.database import ConnectionSettings
from ranking.confidence.calibration import PACKAGED, load_calibration
from ranking.ranker import CandidateRanker
from repair.repairer import CandidateRepairer
from retrieval.catalogs import IndexedCatalogs
from retrieval.conversations import GuardedConversations
from retrieval.embedding.embedder import Embedder
from retrieval.examples.feedback import FeedbackRecorder
from retrieval.examples.records import Verifier
from retrieval.examples.selector import ExampleSelector
from retrieval.glosses import IndexedGlossary
from retrieval.index_store.store import IndexStore
from retrieval.index_store.value_store import ValueStore
from retrieval.indexing import describe_catalog
from retrieval.introspection.source_database import SourceDatabase
from retrieval.retriever import HybridRetriever
from retrieval.semantics.layer import SemanticLayer
from retrieval.semantics.semantics_file import load_semantics
from retrieval.values.dictionary import ValueMemory
from retrieval.values.search import IndexedValueSearch
from retrieval.vocabulary.terms import NO_SYNONYMS, Synonyms, check_synonyms, load_synonyms
from serve_app.composition.database_kinds import build_source, open_database, read_allowlist
from serve_app.composition.models import Models
from serve_app.service.prompt_preparation import PromptPreparation
from serve_app.settings import Settings


@dataclass(frozen=True, slots=True)
class Wiring:
    """The settings, and the socket folder of the embedded server (empty if it is not used)."""

    settings: Settings
    socket_folder: str = ""

    # -- connections ---------------------------------------------------------------------------

    def reader_url(self, database: str) -> str:
        """The URL for queries on ``database``. Raises SettingsError."""
        return self._resolve(self.settings.databases[database].reader, database, READER)

    def indexer_url(self, database: str) -> str:
        """The URL for reading the catalog of ``database``. Raises SettingsError."""
        settings = self.settings.databases[database]
        return self._resolve(settings.indexer or settings.reader, database, INDEXER)

    def index_url(self) -> str:
        """The URL of the index. Raises SettingsError."""
        return self._resolve(self.settings.index.connection, INDEX_DATABASE, INDEXER)

    def _resolve(self, connection: ConnectionSettings, database: str, role: str) -> str:
        if connection.is_embedded:
            return build_embedded_url(
                self.socket_folder, connection.embedded_database(database), role
            )
        return connection.resolve()

    def resolve_model(self, *, on_gpu: bool) -> Wiring:
        """The wiring with engine and model fixed, so that replicas on all machines agree."""
        model = self.models.resolve(on_gpu=on_gpu)
        return replace(self, settings=self.settings.model_copy(update={"model": model}))

    @property
    def models(self) -> Models:
        """The language model, the embedder, and their weights."""
        return Models(self.settings)

    # -- stages --------------------------------------------------------------------------------

    def build_index_store(self) -> IndexStore:
        """The index."""
        return IndexStore(self.index_url())

    def build_retriever(
        self,
        store: IndexStore,
        embedder: Embedder,
        guard: SqlGuard,
        executor: Executor,
        memory: ValueMemory,
        definitions: SemanticLayer | None = None,
    ) -> HybridRetriever:
        """The retriever, over shared parts. Raises SettingsError."""
        return HybridRetriever(
            store,
            embedder,
            guard,
            self.settings.retrieval,
            self.settings.flags,
            values=IndexedValueSearch(memory, guard, guard, executor),
            examples=self.build_example_search(store, embedder, guard),
            glossary=self.build_glossary(memory, guard),
            definitions=definitions,
        )

    def build_value_memory(self, store: IndexStore) -> ValueMemory:
        """The indexed cell values, shared by the value search and the glossary."""
        return ValueMemory(ValueStore(store), self.settings.databases)

    def build_glossary(self, memory: ValueMemory, guard: SqlGuard) -> IndexedGlossary:
        """The glossary. Raises SettingsError for a synonym file that cannot be read."""
        return IndexedGlossary(
            memory,
            guard,
            {
                name: load_synonyms(database.synonyms)
                for name, database in self.settings.databases.items()
                if database.synonyms is not None
            },
        )

    def build_semantic_layer(self, catalogs: CatalogSource, guard: Guard) -> SemanticLayer:
        """The definitions of all databases and assistants.

        Raises SettingsError for a file that cannot be read.
        """
        files = {
            name: load_semantics(database.semantics)
            for name, database in self.settings.by_name.items()
            if database.semantics is not None
        }
        return SemanticLayer(files, catalogs, guard)

    def build_example_search(
        self, store: IndexStore, embedder: Embedder, guard: SqlGuard
    ) -> ExampleSelector:
        """The search for examples, over the shared index."""
        return ExampleSelector(store, embedder, guard, guard, self.settings.retrieval)

    def build_feedback_recorder(
        self, store: IndexStore, embedder: Embedder, guard: SqlGuard, executor: Executor
    ) -> FeedbackRecorder:
        """The recorder of feedback, over the shared index."""
        return FeedbackRecorder(
            store,
            Verifier(guard, guard, executor),
            embedder,
            {name: database.dialect for name, database in self.settings.by_name.items()},
        )

    def build_conversations(self, store: IndexStore, guard: Guard) -> GuardedConversations:
        """The stored conversations, over the shared index."""
        return GuardedConversations(store, guard, self.settings.sessions)

    def build_guard(self, catalogs: CatalogSource | None = None) -> SqlGuard:
        """The guard, over ``catalogs``; by default over those of an index store that it opens.

        Raises SettingsError, PolicyError for a policy or allowlist that cannot be read.
        """
        databases = self.settings.databases.items()
        return SqlGuard(
            catalogs or IndexedCatalogs(self.build_index_store()),
            {
                name: PolicySettings(
                    load_policy(database.policy), row_level_security=database.row_level_security
                )
                for name, database in databases
                if database.policy is not None
            },
            {
                name: allowlist
                for name, database in databases
                if (allowlist := read_allowlist(database)) is not None
            },
            self.settings.assistants,
        )

    def source(self, database: str) -> SourceDatabase[Any]:
        """The source that indexing reads for ``database``. Raises SettingsError."""
        return build_source(self, database)

    def read_synonyms(self, database: str, catalog: Catalog) -> Synonyms:
        """The synonym file of ``database``, checked against its catalog. Raises SettingsError."""
        path = self.settings.databases[database].synonyms
        if path is None:
            return NO_SYNONYMS
        synonyms = load_synonyms(path)
        check_synonyms(synonyms, catalog, where=str(path))
        return synonyms

    def read_described(
        self, database: str, descriptions: Mapping[str, str] = MappingProxyType({})
    ) -> Catalog:
        """The schema of ``database``, with ``descriptions`` in place of missing comments.

        And those of its file of definitions, then of its assistants' files. Raises SettingsError,
        DatabaseUnavailable.
        """
        known = dict(descriptions)
        for name, section in self.settings.by_name.items():
            if section.semantics and self.settings.source_of(name) == database:
                known = {**load_semantics(section.semantics).semantics.descriptions, **known}
        return describe_catalog(self.source(database).read_catalog(), known)

    def build_executor(self) -> ReadOnlyExecutor:
        """The executor, over read-only connections to all databases."""
        return ReadOnlyExecutor(
            {name: open_database(self, name) for name in self.settings.databases}
        )

    def build_ranker(self, guard: Guard, executor: Executor) -> CandidateRanker:
        """The ranker. Raises SettingsError for a calibration that cannot be read."""
        calibration = load_calibration(self.settings.ranking.calibration or PACKAGED)
        return CandidateRanker(guard, executor, self.settings, calibration)

    def build_repairer(self, engine: Engine) -> CandidateRepairer:
        """The repairer."""
        return CandidateRepairer(engine, self.settings)

    def build_prompt_preparation(
        self, engine: Engine, retriever: Retriever
    ) -> PromptPreparation | None:
        """The preparation of prompts; None for a remote model, where it could cost money."""
        if self.settings.model.is_remote:
            return None
        return PromptPreparation(retriever, CandidateGenerator(engine, self.settings))

    def build_pipeline(
        self,
        engine: Engine,
        *,
        retriever: Retriever,
        planner: Planner,
        guard: Guard,
        ranker: Ranker,
        repairer: Repairer,
        sessions: Conversations | None = None,
    ) -> Dialogue:
        """The pipeline over these stages, and the dialogue around it."""
        generator = CandidateGenerator(engine, self.settings)
        pipeline = Pipeline(
            Stages(retriever, planner, generator, guard, ranker, repairer),
            derives=self.settings.repair.derived > 0,
            model_repair=self.settings.flags.model_repair,
            pre_sql=self.settings.flags.pre_sql,
            sampling_timeout_s=self.settings.limits.sampling_timeout_ms / 1000 or None,
        )
        return Dialogue(pipeline, generator, sessions)
