"""Which real part stands behind each stage: the one place that builds them from the settings.

A ``Wiring`` is a small value that crosses process boundaries; every replica builds its own pools
and models from it. Passwords are read where they are used, so they never travel.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from execution.allowlists import Allowlist, extend_allowlist
from execution.duckdb_database import DuckDbDatabase
from execution.embedded import INDEX_DATABASE, INDEXER, READER, build_embedded_url
from execution.executor import Database
from execution.guard import PolicySettings, SqlGuard
from execution.policies.database_apply import find_index_role
from execution.policies.database_script import name_index_role
from execution.policies.policy_file import load_policy
from execution.postgres import PostgresDatabase
from execution.sqlite import SqliteDatabase
from generation.engines import OpenEngine
from generation.engines.anthropic_engine import AnthropicEngine
from generation.engines.choice import choose_engine, has_gpu, read_cpu_flags
from generation.engines.llama_checks import check_model, measure_free_memory
from generation.engines.llama_engine import LlamaEngine
from generation.engines.llama_server import check_processor, check_system
from generation.engines.openai_engine import OpenAiEngine
from generation.engines.vllm_engine import VllmEngine
from generation.generator import CandidateGenerator
from generation.models.forms import EMBEDDER, GGUF, SAFETENSORS, find_weights
from generation.models.registry import load_embedders
from generation.models.store import ModelStore, ProgressReporter, default_model
from nl2sql.catalog import Catalog
from nl2sql.connection import ConnectionSettings
from nl2sql.database_settings import DatabaseSettings
from nl2sql.dialogue import Dialogue
from nl2sql.pipeline import Pipeline, Stages
from nl2sql.protocols import (
    CatalogSource,
    Engine,
    Executor,
    Guard,
    Planner,
    Ranker,
    Repairer,
    Retriever,
    Sessions,
)
from nl2sql.settings import FlagSettings, RetrievalSettings, Settings
from ranking.confidence.calibration import AUTO, Calibration, load_calibration
from ranking.ranker import CandidateRanker
from repair.repairer import CandidateRepairer
from retrieval.catalogs import IndexedCatalogs
from retrieval.embedder import Embedder, find_installed_weights
from retrieval.examples.feedback import FeedbackDesk
from retrieval.examples.selector import ExampleSelector
from retrieval.examples.verification import Verifier
from retrieval.glosses.glossary import IndexedGlossary
from retrieval.glosses.synonyms import NO_SYNONYMS, Synonyms, check_synonyms, load_synonyms
from retrieval.index_store.duckdb_catalog import read_duckdb_catalog
from retrieval.index_store.duckdb_values import DuckDbValues
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.key_samples import (
    open_duckdb_sampler,
    open_postgres_sampler,
    open_sqlite_sampler,
)
from retrieval.index_store.postgres_catalog import read_postgres_catalog
from retrieval.index_store.postgres_values import PostgresValues
from retrieval.index_store.session_store import SessionStore
from retrieval.index_store.sqlite_catalog import read_sqlite_catalog
from retrieval.index_store.sqlite_values import SqliteValues
from retrieval.index_store.store import IndexStore
from retrieval.index_store.value_store import ValueStore
from retrieval.joins.inference import Sampler
from retrieval.sessions import GuardedSessions
from retrieval.values.memory import ValueMemory
from retrieval.values.reading import ValueReader
from retrieval.values.search import IndexedValueSearch
from serve_app.prompt_preparation import PromptPreparation


@dataclass(frozen=True, slots=True)
class Wiring:
    """Settings, and where the embedded server listens (empty when it is not used)."""

    settings: Settings
    socket_folder: str = ""

    # -- connections ---------------------------------------------------------------------------

    def reader_url(self, database: str) -> str:
        """The URL under which queries on ``database`` run. Raises SettingsError."""
        return self._resolve(self.settings.databases[database].reader, database, READER)

    def indexer_url(self, database: str) -> str:
        """The URL under which the catalog of ``database`` is read. Raises SettingsError."""
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

    # -- stages --------------------------------------------------------------------------------

    def build_index_store(self) -> IndexStore:
        """The index."""
        return IndexStore(self.index_url())

    def build_embedder(self) -> Embedder:
        """The embedder; its model loads at the first use."""
        return Embedder(self.settings.index.embedder, self.fetch_embedder)

    def fetch_embedder(self, progress: ProgressReporter | None = None) -> Path:
        """The weights of the default embedding model, fetched where they are not here.

        Raises ModelError.
        """
        with suppress(FileNotFoundError):
            return find_installed_weights()
        (name,) = load_embedders()
        return next(self.build_embedder_store(progress).pull(name).glob("*.safetensors"))

    def find_embedder(self) -> Path | None:
        """The default embedding model if it is here; never touches the network."""
        with suppress(FileNotFoundError):
            return find_installed_weights()
        (name,) = load_embedders()
        return self.build_embedder_store().find(name)

    def build_embedder_store(self, progress: ProgressReporter | None = None) -> ModelStore:
        """Where it is kept unless it is installed."""
        return ModelStore(
            self.settings.home / "models",
            EMBEDDER,
            progress=progress,
            registry=load_embedders(),
            folders=self.settings.model.folders,
        )

    def build_retriever_parts(
        self,
    ) -> tuple[IndexStore, Embedder, SqlGuard, RetrievalSettings, FlagSettings]:
        """What a HybridRetriever is made of, its embedder loaded: no question waits for it.

        Raises SettingsError, PolicyError.
        """
        embedder = self.build_embedder()
        embedder.load()
        settings, store = self.settings, self.build_index_store()
        guard = self.build_guard(IndexedCatalogs(store))
        return store, embedder, guard, settings.retrieval, settings.flags

    def module_patterns(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Database → module → patterns of its tables, as far as they are configured."""
        return {
            name: database.modules
            for name, database in self.settings.databases.items()
            if database.modules
        }

    def build_value_memory(self, store: IndexStore) -> ValueMemory:
        """The indexed cell values, for the value search and the glossary together."""
        databases = self.settings.databases.items()
        return ValueMemory(
            ValueStore(store),
            {name: each.values.max_values for name, each in databases if each.values.enabled},
        )

    def build_value_search(
        self, memory: ValueMemory, guard: SqlGuard, executor: Executor
    ) -> IndexedValueSearch:
        """The search for cell values; what a principal may not see at once, ``guard`` confirms."""
        limit = self.settings.retrieval.max_values
        return IndexedValueSearch(memory, guard, guard, executor, limit=limit)

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

    def build_example_search(
        self, store: IndexStore, embedder: Embedder, guard: SqlGuard
    ) -> ExampleSelector:
        """The search for examples, over the shared index."""
        return ExampleSelector(store, embedder, guard, guard, self.settings.retrieval)

    def build_feedback_desk(
        self, store: IndexStore, embedder: Embedder, guard: SqlGuard, executor: Executor
    ) -> FeedbackDesk:
        """What takes feedback, over the shared index."""
        databases = self.settings.databases.items()
        return FeedbackDesk(
            ExampleStore(store),
            Verifier(guard, guard, executor),
            embedder,
            {name: database.dialect for name, database in databases},
        )

    def build_sessions(self, store: IndexStore, guard: SqlGuard) -> GuardedSessions:
        """What was asked before in a session, over the shared index."""
        return GuardedSessions(SessionStore(store), guard, self.settings.sessions)

    def build_model_store(self, progress: ProgressReporter | None = None) -> ModelStore:
        """The weights under ``home``, in the form that the engine here wants."""
        return ModelStore(
            self.settings.home / "models",
            GGUF if self._is_llama else SAFETENSORS,
            progress=progress,
            folders=self.settings.model.folders,
        )

    def open_engine(self) -> OpenEngine:
        """The configured engine, its weights fetched where it runs here.

        Raises ModelError, EngineUnavailable; SettingsError for a key that is not set, or for what
        this machine or this model cannot do.
        """
        model = self.settings.model
        if model.engine == "openai":
            return OpenAiEngine(model)
        if model.engine == "anthropic":
            return AnthropicEngine(model)
        weights = self.fetch_weights()
        if self._is_llama:
            return LlamaEngine(weights, model)
        return VllmEngine(weights, model)

    def fetch_weights(self, progress: ProgressReporter | None = None) -> Path:
        """What the engine here loads, fetched and checked.

        Raises ModelError, EngineUnavailable, and SettingsError for what this machine or this model
        cannot do.
        """
        folder = self.build_model_store(progress).pull(self.model_name())
        self.check_weights(folder)
        return find_weights(folder) if self._is_llama else folder

    def check_weights(self, folder: Path) -> None:
        """Whether the engine here can run what is in ``folder``. Raises as ``fetch_weights``."""
        if self._is_llama:
            check_processor(read_cpu_flags())
            check_system()
            check_model(find_weights(folder), self.settings.model, measure_free_memory())

    @property
    def _is_llama(self) -> bool:
        return choose_engine(self.settings.model) == "llama.cpp"

    def model_name(self) -> str:
        """The configured model; ``auto`` is the default for a GPU or a CPU, whichever is here."""
        if self.settings.model.is_remote:
            return self.settings.model.served_name
        if self.settings.model.name != "auto":
            return self.settings.model.name
        return default_model(has_gpu=choose_engine(self.settings.model) == "vllm" and has_gpu())

    def build_guard(self, catalogs: CatalogSource | None = None) -> SqlGuard:
        """Stage 5, over ``catalogs``, or over the indexed ones through a store of its own.

        Raises SettingsError, PolicyError for a policy or allowlist that cannot be read.
        """
        databases = self.settings.databases.items()
        return SqlGuard(
            catalogs or IndexedCatalogs(self.build_index_store()),
            {
                name: PolicySettings(
                    load_policy(database.policy), database.fence, database.second_wall
                )
                for name, database in databases
                if database.policy is not None
            },
            {
                name: allowlist
                for name, database in databases
                if (allowlist := self._read_allowlist(database)) is not None
            },
        )

    @staticmethod
    def _read_allowlist(database: DatabaseSettings) -> Allowlist | None:
        """The database's own allowlist; None means the dialect's. Raises SettingsError."""
        if database.allowlist is None:
            return None
        return extend_allowlist(database.dialect, database.allowlist)

    def read_catalog(self, database: str) -> Catalog:
        """The schema as it is now, as far as the reader may see it. Raises DatabaseUnavailable."""
        settings = self.settings.databases[database]
        if (path := settings.reader.sqlite_path) is not None:
            return read_sqlite_catalog(path, database=database)
        if (path := settings.reader.duckdb_path) is not None:
            return read_duckdb_catalog(path, database=database, schemas=settings.schemas)
        return read_postgres_catalog(
            self.indexer_url(database),
            database=database,
            reader_role=urlsplit(self.reader_url(database)).username or "",
            index_role=name_index_role(database) if settings.policy else "",
            schemas=settings.schemas,
        )

    def read_synonyms(self, database: str, catalog: Catalog) -> Synonyms:
        """The synonym file of ``database``, checked against its catalog. Raises SettingsError."""
        path = self.settings.databases[database].synonyms
        if path is None:
            return NO_SYNONYMS
        synonyms = load_synonyms(path)
        check_synonyms(synonyms, catalog, where=str(path))
        return synonyms

    def build_value_reader(self, database: str) -> ValueReader:
        """Reads the distinct values of ``database`` as far as queries may.

        Raises SettingsError, DatabaseUnavailable.
        """
        settings = self.settings.databases[database]
        if (path := settings.reader.sqlite_path) is not None:
            return SqliteValues(path, database=database)
        if (path := settings.reader.duckdb_path) is not None:
            return DuckDbValues(path, database=database)
        url, role = self._find_whole_reader(database)
        return PostgresValues(url, database=database, role=role)

    def open_sampler(self, database: str) -> AbstractContextManager[Sampler]:
        """Samples values of ``database`` as far as queries may read them, for key inference.

        Raises SettingsError, DatabaseUnavailable; entering it raises DatabaseUnavailable.
        """
        settings = self.settings.databases[database]
        if (path := settings.reader.sqlite_path) is not None:
            return open_sqlite_sampler(path, database=database)
        if (path := settings.reader.duckdb_path) is not None:
            return open_duckdb_sampler(path, database=database)
        url, role = self._find_whole_reader(database)
        return open_postgres_sampler(url, database=database, role=role)

    def _find_whole_reader(self, database: str) -> tuple[str, str]:
        """The URL, and the role to become, that may read all that any query may.

        That is the reader itself, but behind the second wall the reader may SELECT nothing.
        """
        if self.settings.databases[database].policy is not None:
            url = self.indexer_url(database)
            if role := find_index_role(url, database):
                return url, role
        return self.reader_url(database), ""

    def build_databases(self) -> dict[str, Database]:
        """Name → the read-only door to that database, for the executor."""
        return {name: self._open(name) for name in self.settings.databases}

    def _open(self, name: str) -> Database:
        settings = self.settings.databases[name]
        limits = self.settings.limits
        if (path := settings.reader.sqlite_path) is not None:
            return SqliteDatabase(name, path, limits)
        if (path := settings.reader.duckdb_path) is not None:
            return DuckDbDatabase(name, path, limits, self._read_allowlist(settings))
        return PostgresDatabase(
            name,
            self.reader_url(name),
            limits,
            search_path=settings.schemas,
            allowlist=self._read_allowlist(settings),
        )

    def build_ranker(self, guard: Guard, executor: Executor) -> CandidateRanker:
        """Stage 6. Raises SettingsError for a calibration that cannot be read."""
        return CandidateRanker(guard, executor, self.settings, self.read_calibration())

    def read_calibration(self) -> Calibration | None:
        """What makes a confidence of the vote. Raises SettingsError."""
        choice = self.settings.ranking.calibration
        return load_calibration(choice, self.model_name() if choice == AUTO else "")

    def build_repairer(self, engine: Engine) -> CandidateRepairer:
        """Stage 7."""
        return CandidateRepairer(engine, self.settings)

    def build_prompt_preparation(
        self, engine: Engine, retriever: Retriever
    ) -> PromptPreparation | None:
        """What reads ahead; a server elsewhere would be paid for it, or asked in others' time."""
        if self.settings.model.is_remote:
            return None
        return PromptPreparation(retriever, CandidateGenerator(engine, self.settings))

    def build_pipeline(
        self,
        engine: Engine,
        *,
        retriever: Retriever,
        planner: Planner,
        ranker: Ranker,
        repairer: Repairer,
        sessions: Sessions | None = None,
    ) -> Dialogue:
        """The pipeline over these stages, and the dialogue around it."""
        generator = CandidateGenerator(engine, self.settings)
        pipeline = Pipeline(
            Stages(retriever, planner, generator, ranker, repairer),
            repair=self.settings.repair,
            model_repair=self.settings.flags.model_repair,
            value_repair=self.settings.flags.value_repair,
            pre_sql=self.settings.flags.pre_sql,
        )
        return Dialogue(pipeline, generator, sessions)
