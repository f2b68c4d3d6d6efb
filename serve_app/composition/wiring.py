"""Builds the implementation of each stage from the settings; no other module does.

A ``Wiring`` is a small value that is sent between processes; every replica builds its own pools and
models from it. Passwords are read where they are used, so they are never sent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from execution.executor import ReadOnlyExecutor
from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.policy_file import load_policy
from execution.postgres.embedded import INDEX_DATABASE, INDEXER, READER, build_embedded_url
from generation.engines.choice import resolve_model
from generation.sampling.generator import CandidateGenerator
from nl2sql.catalog import Catalog
from nl2sql.protocols import CatalogSource, Engine, Executor, Guard, Retriever
from nl2sql.settings.database import ConnectionSettings
from ranking.confidence.calibration import PACKAGED, load_calibration
from ranking.ranker import CandidateRanker
from retrieval.conversations import GuardedConversations
from retrieval.index_store.store import IndexStore
from retrieval.indexing import describe_catalog
from retrieval.introspection.source_database import SourceDatabase
from retrieval.semantics.semantics_file import SemanticsFile, load_semantics
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

    def _resolve(self, connection: ConnectionSettings, database: str, role: str) -> str:
        if connection.is_embedded:
            return build_embedded_url(
                self.socket_folder, connection.embedded_database(database), role
            )
        return connection.resolve()

    def resolve_model(self, *, on_gpu: bool) -> Wiring:
        """The wiring with engine and model fixed, so that replicas on all machines agree."""
        model = resolve_model(self.settings.model, on_gpu=on_gpu)
        return replace(self, settings=self.settings.model_copy(update={"model": model}))

    @property
    def models(self) -> Models:
        """The language model, the embedder, and their weights."""
        return Models(self.settings)

    # -- stages --------------------------------------------------------------------------------

    def build_index_store(self) -> IndexStore:
        """The index. Raises SettingsError."""
        return IndexStore(self._resolve(self.settings.index.connection, INDEX_DATABASE, INDEXER))

    def build_conversations(self, store: IndexStore, guard: Guard) -> GuardedConversations:
        """The stored conversations, over the shared index."""
        return GuardedConversations(store, guard, self.settings.sessions)

    def build_guard(self, catalogs: CatalogSource | None = None) -> SqlGuard:
        """The guard, over ``catalogs``; by default over those of an index store that it opens.

        Raises SettingsError, PolicyError for a policy or allowlist that cannot be read.
        """
        databases = self.settings.databases.items()
        return SqlGuard(
            catalogs or self.build_index_store(),
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
        for file in self.read_definitions((database,)).values():
            known = {**file.semantics.descriptions, **known}
        return describe_catalog(self.source(database).read_catalog(), known)

    def read_definitions(self, databases: Collection[str]) -> dict[str, SemanticsFile]:
        """The definitions of ``databases`` and their assistants, by name; each file is read once.

        Raises SettingsError.
        """
        paths = {
            name: section.semantics
            for name, section in self.settings.by_name.items()
            if section.semantics and self.settings.source_of(name) in databases
        }
        files = {path: load_semantics(path) for path in dict.fromkeys(paths.values())}
        return {name: files[path] for name, path in paths.items()}

    def build_executor(self) -> ReadOnlyExecutor:
        """The executor, over read-only connections to all databases."""
        return ReadOnlyExecutor(
            {name: open_database(self, name) for name in self.settings.databases}
        )

    def build_ranker(self, guard: Guard, executor: Executor) -> CandidateRanker:
        """The ranker. Raises SettingsError for a calibration that cannot be read."""
        calibration = load_calibration(self.settings.ranking.calibration or PACKAGED)
        return CandidateRanker(guard, executor, self.settings, calibration)

    def build_prompt_preparation(
        self, engine: Engine, retriever: Retriever
    ) -> PromptPreparation | None:
        """The preparation of prompts; None for a remote model, where it could cost money."""
        if self.settings.model.is_remote:
            return None
        return PromptPreparation(retriever, CandidateGenerator(engine, self.settings))
