"""All sections of ``quorumsql.yaml`` together."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from nl2sql.errors import UnknownDatabase
from nl2sql.settings.database import DatabaseSettings
from nl2sql.settings.identity import LOCAL, IdentitySettings
from nl2sql.settings.limits import LimitSettings
from nl2sql.settings.model import ModelSettings
from nl2sql.settings.pipeline import (
    AnswerSettings,
    FlagSettings,
    IndexSettings,
    RankingSettings,
    RepairSettings,
    RetrievalSettings,
    SamplingSettings,
    SessionSettings,
)
from nl2sql.settings.section import Section
from nl2sql.settings.service import (
    AuditSettings,
    BatchSettings,
    ObservabilitySettings,
    PageSettings,
    ServeSettings,
)
from nl2sql.types import Principal


class Settings(Section):
    """The whole of ``quorumsql.yaml``."""

    home: Path = Field(
        Path("~/.cache/quorumsql"),
        description="Folder of weights, embedded server and logs; relative to this file.",
    )
    default_database: str = Field("", description="The database if a request names none.")
    databases: dict[str, DatabaseSettings] = Field(min_length=1)
    identity: IdentitySettings = IdentitySettings()
    audit: AuditSettings = AuditSettings()
    index: IndexSettings = IndexSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    model: ModelSettings = ModelSettings()
    sampling: SamplingSettings = SamplingSettings()
    limits: LimitSettings = LimitSettings()
    ranking: RankingSettings = RankingSettings()
    repair: RepairSettings = RepairSettings()
    sessions: SessionSettings = SessionSettings()
    answer: AnswerSettings = AnswerSettings()
    flags: FlagSettings = FlagSettings()
    serve: ServeSettings = ServeSettings()
    page: PageSettings = PageSettings()
    batch: BatchSettings = BatchSettings()
    observability: ObservabilitySettings = ObservabilitySettings()

    @model_validator(mode="after")
    def _databases_are_known(self) -> Settings:
        if self.default_database and self.default_database not in self.databases:
            raise ValueError(f"default_database {self.default_database!r} is not under databases")
        identity = self.identity
        for name, principal in {LOCAL: identity.local, **identity.principals}.items():
            if unknown := set(principal.databases) - set(self.databases):
                raise ValueError(
                    f"{name} may ask {', '.join(sorted(unknown))}, not under databases"
                )
        return self

    def database_name(self, name: str | None, principal: Principal | None = None) -> str:
        """The name asked for, or the default one.

        Raises UnknownDatabase, also for a database that ``principal`` may not ask; then its message
        lists only those that it may.
        """
        known = self.database_names(principal)
        chosen = name or (known[0] if len(known) == 1 else self.default_database)
        if chosen not in known:
            raise UnknownDatabase(chosen, known)
        return chosen

    def database_names(self, principal: Principal | None = None) -> tuple[str, ...]:
        """The databases that ``principal`` may ask; all of them if it is None."""
        allowed = principal.access.databases if principal is not None else ()
        return tuple(name for name in self.databases if not allowed or name in allowed)

    @property
    def models_folder(self) -> Path:
        """Where weights, and the measured speed of the machine, are kept."""
        return self.home / "models"

    @property
    def uses_embedded_server(self) -> bool:
        """True if any connection is to the embedded PostgreSQL."""
        connections = [self.index.connection]
        for database in self.databases.values():
            connections += [database.reader, database.indexer or database.reader]
        return any(connection.is_embedded for connection in connections)
