"""All sections of ``quorumsql.yaml`` together."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from nl2sql.errors import UnknownDatabase
from nl2sql.settings.conversation import AnswerSettings, GateSettings, SessionSettings
from nl2sql.settings.database import DatabaseSettings
from nl2sql.settings.flags import FlagSettings
from nl2sql.settings.identity import IdentitySettings
from nl2sql.settings.index import IndexSettings
from nl2sql.settings.limits import LimitSettings
from nl2sql.settings.model import ModelSettings
from nl2sql.settings.observability import ObservabilitySettings
from nl2sql.settings.ranking import RankingSettings
from nl2sql.settings.repair import RepairSettings
from nl2sql.settings.retrieval import RetrievalSettings
from nl2sql.settings.sampling import SamplingSettings
from nl2sql.settings.section import Section
from nl2sql.settings.serve import ServeSettings


class Settings(Section):
    """The whole of ``quorumsql.yaml``."""

    home: Path = Field(
        Path("~/.cache/quorumsql"),
        description="Folder of weights, embedded server and logs; relative to this file.",
    )
    default_database: str = Field("", description="The database if a request names none.")
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
    observability: ObservabilitySettings = ObservabilitySettings()

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
        """True if any connection is to the embedded PostgreSQL."""
        connections = [self.index.connection]
        for database in self.databases.values():
            connections += [database.reader, database.indexer or database.reader]
        return any(connection.is_embedded for connection in connections)
