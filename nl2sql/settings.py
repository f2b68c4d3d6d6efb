"""One ``quorumsql.yaml``, checked whole before anything starts.

Nothing is read at import. Secrets never stand in the file: a URL names its user, and
``password_env`` names the environment variable that holds the password. An unknown key is an error
that names the nearest known one.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from nl2sql.base_url import check_base_url
from nl2sql.connection import (
    ConnectionSettings,
    build_duckdb_connection,
    build_sqlite_connection,
)
from nl2sql.conversation_settings import AnswerSettings, GateSettings, SessionSettings
from nl2sql.database_settings import DatabaseSettings, Milliseconds
from nl2sql.errors import SettingsError, UnknownDatabase
from nl2sql.identity import IdentitySettings
from nl2sql.ranking_settings import RankingSettings
from nl2sql.repair_settings import RepairSettings
from nl2sql.sampling_settings import SamplingSettings
from nl2sql.section import Section
from nl2sql.serve_settings import ServeSettings
from nl2sql.yaml_file import read_yaml


class IndexSettings(Section):
    """Where the schema index lives: a PostgreSQL with pgvector, in the schema `quorumsql`."""

    connection: ConnectionSettings = ConnectionSettings(url="embedded")
    embedder: str = Field(
        "all-MiniLM-L6-v2",
        description="Another model of sentence-transformers by name, hub id or folder needs the "
        "extra `embedders`.",
    )
    model_glosses: bool = Field(
        False,
        description="Have the model describe columns that nothing describes, once, while indexing.",
    )
    infer_keys: bool = Field(
        True,
        description="Find joins that no foreign key declares, by names, types and sampled values.",
    )


class RetrievalSettings(Section):
    """What of the schema the model gets to see."""

    max_tables: int = Field(8, ge=1, le=200, description="Tables that search finds for a question.")
    module_tables: int = Field(
        16,
        ge=0,
        le=200,
        description="A database of no more tables is shown whole, and so is the module of the best "
        "table; what the engine read of it serves the next question too.",
    )
    fk_expansion_limit: int = Field(
        2, ge=0, le=100, description="How many of them may come in over foreign keys alone."
    )
    max_values: int = Field(8, ge=0, le=100, description="Matched cell values a question.")
    examples: int = Field(3, ge=0, le=20, description="Verified questions shown as examples.")
    example_selection: Literal["similar", "random"] = Field(
        "similar", description="The nearest by meaning, or drawn with the question's seed."
    )
    example_min_similarity: float = Field(
        0.4, ge=-1, le=1, description="An example less like the question is not shown."
    )
    same_question: bool = Field(
        True,
        description="Also show an example whose question is the very one that is asked. "
        "Evaluations never do.",
    )
    linking: Literal["deterministic", "full", "tcsl", "scsl"] = Field(
        "deterministic",
        description="Who links the question to the schema: rules; or the model, over the whole "
        "schema at once, tables then columns, or column by column.",
    )
    join_alternatives: int = Field(
        2, ge=0, le=10, description="Next best ways to join, besides the best."
    )
    pruning_min_tables: int = Field(
        50, ge=0, description="Columns are pruned in databases of at least so many tables."
    )


class ModelSettings(Section):
    """The language model and its engine."""

    name: str = Field(
        "auto",
        description="A registered name, a folder or a hub id; auto picks by CPU or GPU.",
    )
    folders: tuple[Path, ...] = Field(
        default=(),
        description="Folders looked in first for the weights' files, before anything is fetched.",
    )
    max_model_len: int = Field(6144, ge=512, description="Context window in tokens.")
    enforce_eager: bool | None = Field(
        None,
        description="Skip compilation, for a faster start; unset: on a CPU yes, on a GPU no.",
    )
    reserved_cores: int = Field(0, ge=0, description="CPU cores that the engine leaves idle.")
    kv_cache_gib: int = Field(2, ge=1, description="Memory for the KV cache on a CPU, in GiB.")
    gpu_memory_utilization: float = Field(0.9, gt=0, le=1, description="Share of a GPU to use.")
    tensor_parallel_size: int = Field(1, ge=1, description="GPUs that share one model.")
    adapters: tuple[Path, ...] = Field(
        default=(), description="LoRA adapters, as GGUF files, that llama.cpp adds to the model."
    )
    engine: Literal["auto", "llama.cpp", "vllm", "openai", "anthropic"] = Field(
        "auto",
        description="llama.cpp and vllm run the model here; auto is vllm where it is installed and "
        "there is a GPU, else llama.cpp. openai asks a server that speaks OpenAI's chat "
        "completions (vLLM, Ollama, TGI, hosted), anthropic one that speaks Anthropic's messages.",
    )
    base_url: str = Field(
        "",
        description="The server's address with its path, as http://host:8000/v1; for anthropic "
        "empty means Anthropic's own. No key in it.",
    )
    served_name: str = Field("", description="The model's name at the server.")
    api_key_env: str = Field(
        "", description="Environment variable that holds the server's key; empty: it wants none."
    )
    timeout_ms: Milliseconds = Field(
        600_000, description="One request to the server, which may be a slow one."
    )
    retries: int = Field(
        2, ge=0, le=10, description="Repetitions after a failed connection, 429 or 5xx."
    )
    concurrency: int = Field(16, ge=1, le=1000, description="Requests to the server at a time.")

    @property
    def is_remote(self) -> bool:
        """True where a server runs the model, so that no weights and no GPU are needed here."""
        return self.engine in ("openai", "anthropic")

    @model_validator(mode="after")
    def _server_is_named(self) -> ModelSettings:
        if not self.is_remote:
            return self
        if not self.served_name:
            raise ValueError(f"engine {self.engine} needs served_name, the model's name there")
        if not self.base_url and self.engine == "openai":
            raise ValueError("engine openai needs base_url, as http://127.0.0.1:8000/v1")
        if self.base_url:
            check_base_url(self.base_url)
        return self


class LimitSettings(Section):
    """What one request may cost."""

    question_chars: int = Field(4000, ge=1, description="Longest question, in characters.")
    body_bytes: int = Field(65_536, ge=1024, le=2**18, description="Largest request body.")
    body_timeout_ms: Milliseconds = Field(
        10_000, description="From a request's headers to the end of its body."
    )
    rows: int = Field(100, ge=1, le=10_000, description="Rows when the request names no max_rows.")
    max_rows: int = Field(1000, ge=1, le=100_000, description="Most rows a request may ask for.")
    statement_timeout_ms: Milliseconds = Field(10_000, description="One execution.")
    explain_timeout_ms: Milliseconds = Field(2000, description="One EXPLAIN.")
    sampling_timeout_ms: int | None = Field(
        None,
        ge=0,
        lt=2**31,
        description="From a question's start to the end of sampling: what is finished by then is "
        "voted on, or else the first that is. 0: sampling always ends whole; unset: twice what a "
        "long question takes at the engine's measured speed, from 20 to 120 seconds.",
    )
    request_timeout_ms: int = Field(
        1_800_000,
        ge=1,
        lt=2**31,
        description="One request, all in all: against what hangs. A slow machine is no reason to "
        "set it low; that is what sampling_timeout_ms is for.",
    )
    pool_size: int = Field(8, ge=1, le=100, description="Connections a database.")
    cell_bytes: int = Field(
        65_536,
        ge=1024,
        le=2**24,
        description="Longest cell. Text and bytes are cut there, other values withheld, and told.",
    )
    result_bytes: int = Field(
        64 * 2**20, ge=2**20, le=2**30, description="All cells of a result; rows beyond are left."
    )
    duckdb_memory_mib: int = Field(
        1024,
        ge=64,
        le=2**24,
        description="Memory of all statements together on one DuckDB file, in MiB.",
    )
    work_mem_mib: int = Field(32, ge=1, le=2**20, description="PostgreSQL's work_mem, in MiB.")
    max_estimated_rows: int = Field(
        50_000_000,
        ge=1000,
        description="A query is not run when PostgreSQL expects more rows than this in one step "
        "of its plan, or DuckDB more pairs of rows in a join. For as many, PostgreSQL takes 2 to "
        "6 s in one simple step, DuckDB 0.1 to 3 s.",
    )


class FlagSettings(Section):
    """Parts of the pipeline that can be switched off, under the field's names."""

    intent_gate: bool = Field(
        True, description="Refuse what is not about the database, and commands to change it."
    )
    follow_ups: bool = Field(
        True, description="Have the model complete the follow-ups of a session; costs a call each."
    )
    answer_text: bool = Field(True, description="Say in words what the rows hold.")
    module_router: bool = Field(True, description="Route to modules and favour their tables.")
    cosine: bool = Field(True, description="Rank tables by the embeddings of their cards.")
    bm25: bool = Field(True, description="Fuse keyword ranking with the vector ranking.")
    comments: bool = Field(True, description="Show the comments of tables and columns.")
    glosses: bool = Field(
        False,
        description="Describe columns that the database does not. Off: prompts grew by a tenth to "
        "two thirds, and no more answers were right.",
    )
    value_index: bool = Field(True, description="Find the question's words among cell values.")
    examples: bool = Field(True, description="Show verified questions like this one.")
    schema_linker: bool = Field(True, description="Link the question to tables and columns.")
    column_pruning: bool = Field(
        True, description="Leave out columns that a question about a large schema needs not."
    )
    pre_sql: bool = Field(
        False, description="Draft a query first, and search again for the names in it."
    )
    join_planner: bool = Field(True, description="Plan the joins between the linked tables.")
    policy_hints: bool = Field(
        False, description="Tell the model which rows the policy leaves, so that it adds no filter."
    )
    reranker: bool = Field(True, description="Vote over equivalent results, then score.")
    value_verification: bool = Field(
        False, description="Ask the database whether the texts that a candidate looks for exist."
    )
    pg_normalize: bool = Field(
        True, description="Put the words of other dialects into those of the database."
    )
    autocorrect: bool = Field(
        True, description="Repair by rule: names, joins and groups that can mean but one thing."
    )
    value_repair: bool = Field(
        False, description="Where nothing is found, try the stored value's case beside it."
    )
    model_repair: bool = Field(
        False,
        description="Ask the model where no candidate works at all. Off: of 726 attempts by the "
        "0.5B model none ran.",
    )


class Settings(Section):
    """The whole of ``quorumsql.yaml``."""

    home: Path = Field(
        Path("~/.cache/quorumsql"),
        description="Weights, embedded server and logs; relative to the file.",
    )
    default_database: str = Field("", description="Database when a request names none.")
    databases: dict[str, DatabaseSettings] = Field(min_length=1)
    identity: IdentitySettings = IdentitySettings()
    index: IndexSettings = IndexSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    model: ModelSettings = ModelSettings()
    sampling: SamplingSettings = SamplingSettings()
    limits: LimitSettings = LimitSettings()
    ranking: RankingSettings = RankingSettings()
    repair: RepairSettings = RepairSettings()
    gate: GateSettings = GateSettings()
    sessions: SessionSettings = SessionSettings()
    answer: AnswerSettings = AnswerSettings()
    flags: FlagSettings = FlagSettings()
    serve: ServeSettings = ServeSettings()

    @model_validator(mode="after")
    def _default_is_known(self) -> Settings:
        if self.default_database and self.default_database not in self.databases:
            raise ValueError(f"default_database {self.default_database!r} is not under databases")
        return self

    def database_name(self, name: str | None) -> str:
        """The name asked for, or the default one. Raises UnknownDatabase."""
        chosen = (
            name
            or self.default_database
            or (next(iter(self.databases)) if len(self.databases) == 1 else "")
        )
        if chosen not in self.databases:
            raise UnknownDatabase(chosen, tuple(self.databases))
        return chosen

    @property
    def uses_embedded_server(self) -> bool:
        """True when any connection lives in the embedded PostgreSQL."""
        connections = [self.index.connection]
        for database in self.databases.values():
            connections += [database.reader, database.indexer or database.reader]
        return any(connection.is_embedded for connection in connections)


def load_settings(path: Path) -> Settings:
    """The settings in the YAML file at ``path``; relative paths in it are relative to the file.

    Raises SettingsError when the file is missing, is no YAML, or holds an unknown or bad key.
    """
    hint = "Name one with --config, or copy the quorumsql.yaml of the repository."
    value = read_yaml(path, hint=hint)
    settings = parse_settings(value, where=str(path))
    folder = path.resolve().parent

    def locate(inside: Path) -> Path:
        return (folder / inside.expanduser()).resolve()

    def locate_files(database: DatabaseSettings) -> DatabaseSettings:
        found: dict[str, Any] = {
            key: locate(file)
            for key in ("policy", "allowlist", "synonyms")
            if (file := getattr(database, key)) is not None
        }
        if (file := database.reader.sqlite_path) is not None:
            found["reader"] = build_sqlite_connection(locate(file))
        if (file := database.reader.duckdb_path) is not None:
            found["reader"] = build_duckdb_connection(locate(file))
        return database.model_copy(update=found)

    databases = {name: locate_files(database) for name, database in settings.databases.items()}
    model = settings.model
    found_files = {
        "folders": tuple(locate(each) for each in model.folders),
        "adapters": tuple(locate(each) for each in model.adapters),
    }
    ranking = settings.ranking
    if ranking.has_own_calibration:
        file = str(locate(Path(ranking.calibration)))
        ranking = ranking.model_copy(update={"calibration": file})
    return settings.model_copy(
        update={
            "home": locate(settings.home),
            "ranking": ranking,
            "databases": databases,
            "model": model.model_copy(update=found_files),
        }
    )


def parse_settings(value: Any, *, where: str = "settings") -> Settings:
    """``value`` (a plain mapping) as Settings. Raises SettingsError listing every bad key."""
    if not isinstance(value, dict):
        raise SettingsError(f"{where} must be a mapping of keys to values.")
    try:
        return Settings.model_validate(value)
    except ValidationError as error:
        lines = [_describe(problem, value) for problem in error.errors()]
        raise SettingsError(f"{where}: " + "; ".join(lines)) from error


def _describe(problem: Any, value: Any) -> str:
    location = [str(part) for part in problem["loc"]]
    dotted = ".".join(location) or "the file"
    if problem["type"] != "extra_forbidden":
        return f"{dotted}: {problem['msg'].removeprefix('Value error, ')}"
    known = _known_keys(Settings, location[:-1])
    nearest = difflib.get_close_matches(location[-1], known, n=1, cutoff=0.0)
    return f"unknown key {dotted}, did you mean {nearest[0]}?" if nearest else f"unknown {dotted}"


def _known_keys(section: type[BaseModel], path: list[str]) -> list[str]:
    """The keys that are allowed where ``path`` leads."""
    for part in path:
        if part not in section.model_fields:
            continue  # a database's own name, which is data and not a key
        annotation = section.model_fields[part].annotation
        inner = getattr(annotation, "__args__", (annotation,))[-1]
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            section = inner
    return list(section.model_fields)
