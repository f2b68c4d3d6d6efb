"""All sections of ``quorumsql.yaml`` together, and how the file is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator, model_validator

from nl2sql.errors import UnknownDatabase
from nl2sql.settings import LimitSettings, StageSettings
from nl2sql.settings.database import ConnectionSettings, build_file_connection
from nl2sql.settings.pipeline import SessionSettings
from nl2sql.settings.section import Section
from nl2sql.types import Principal
from nl2sql.yaml_file import check_yaml, read_yaml
from serve_app.settings.identity import LOCAL, IdentitySettings, JwtSettings
from serve_app.settings.service import (
    AnswerSettings,
    AuditSettings,
    IndexSettings,
    ObservabilitySettings,
    PageSettings,
    ServeSettings,
)


class Settings(StageSettings):
    """The whole of ``quorumsql.yaml``."""

    home: Path = Field(
        Path("~/.cache/quorumsql"),
        validate_default=True,
        description="Folder of weights, embedded server and logs; relative to this file.",
    )
    default_database: str = Field("", description="The database if a request names none.")
    identity: IdentitySettings = IdentitySettings()
    audit: AuditSettings = AuditSettings()
    index: IndexSettings = IndexSettings()
    limits: LimitSettings = LimitSettings()
    sessions: SessionSettings = SessionSettings()
    answer: AnswerSettings = AnswerSettings()
    serve: ServeSettings = ServeSettings()
    page: PageSettings = PageSettings()
    observability: ObservabilitySettings = ObservabilitySettings()

    @field_validator("home")
    @classmethod
    def _home_is_expanded(cls, home: Path) -> Path:
        # Settings that no file holds too, whose paths nothing makes absolute.
        return home.expanduser()

    @model_validator(mode="after")
    def _databases_are_known(self) -> Settings:
        for name, assistant in self.assistants.items():
            if assistant.database not in self.databases:
                raise ValueError(
                    f"assistants.{name}.database {assistant.database!r} is not under databases"
                )
            if name in self.databases:
                raise ValueError(f"assistants.{name}: a database has that name; choose another")
        if self.default_database and self.default_database not in self.by_name:
            raise ValueError(f"default_database {self.default_database!r} is not under databases")
        identity = self.identity
        for name, principal in {LOCAL: identity.local, **identity.principals}.items():
            if unknown := set(principal.databases) - set(self.by_name):
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
        chosen = name or self.choose_default(known) or self.default_database
        if chosen not in known:
            raise UnknownDatabase(chosen, known)
        return chosen

    def choose_default(self, names: Sequence[str]) -> str:
        """Which of ``names`` a request means that names none; empty if it has to name one."""
        if self.default_database in names:
            return self.default_database
        single = [name for name in names if name in self.databases] or names
        return single[0] if len(single) == 1 else ""

    def database_names(self, principal: Principal | None = None) -> tuple[str, ...]:
        """The databases and assistants that ``principal`` may ask; all of them if it is None.

        Who may ask a database may ask its assistants; who may ask an assistant need not be allowed
        the whole database.
        """
        allowed = principal.access.databases if principal is not None else ()
        return tuple(
            name
            for name in self.by_name
            if not allowed or name in allowed or self.source_of(name) in allowed
        )

    def source_database(self, name: str | None) -> str:
        """The database to prepare for questions about ``name``. Raises UnknownDatabase."""
        return self.source_of(self.database_name(name))

    @property
    def uses_embedded_server(self) -> bool:
        """True if any connection is to the embedded PostgreSQL."""
        connections = [self.index.connection]
        for database in self.databases.values():
            connections += [database.reader, database.indexer or database.reader]
        return any(connection.is_embedded for connection in connections)


def load_settings(path: Path) -> Settings:
    """Reads the YAML file at ``path``; relative paths in it are relative to the file.

    Raises SettingsError if the file is missing, is not YAML, or has an unknown or bad key.
    """
    hint = "Name one with --config, or copy the quorumsql.yaml of the repository."
    value = read_yaml(path, hint=hint)
    settings: Settings = _locate(parse_settings(value, where=str(path)), path.resolve().parent)
    return settings


def _locate(value: Any, folder: Path) -> Any:
    """A setting or a section with its paths, which are relative to ``folder``, made absolute."""
    if isinstance(value, Path):
        return (folder / value.expanduser()).resolve()
    if isinstance(value, dict):
        return {key: _locate(inner, folder) for key, inner in value.items()}
    if not isinstance(value, Section):
        return value
    if isinstance(value, ConnectionSettings) and (file := value.file_path) is not None:
        dialect = "sqlite" if value.sqlite_path else "duckdb"
        return build_file_connection(_locate(file, folder), dialect)
    found = {name: _locate(getattr(value, name), folder) for name in type(value).model_fields}
    if isinstance(value, JwtSettings) and (file := value.jwks_file) is not None:
        found["jwks"] = str(_locate(file, folder))
    return value.model_copy(update=found)


def parse_settings(value: Any, *, where: str = "settings") -> Settings:
    """``value`` (a plain mapping) as Settings. Raises SettingsError listing every bad key."""
    return check_yaml(value, Settings, where=where)
