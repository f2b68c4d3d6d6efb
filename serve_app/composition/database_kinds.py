"""The implementations for each dialect of a configured database; new dialects are added here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from execution.allowlists import Allowlist, extend_allowlist
from execution.duckdb.database import DuckDbDatabase
from execution.executor import Database
from execution.policies.row_level_security.apply import find_index_role
from execution.policies.row_level_security.blocks import name_index_role
from execution.postgres.database import PostgresDatabase
from execution.sqlite.database import SqliteDatabase
from nl2sql.connection_failures import find_login, find_search_path
from nl2sql.settings import Settings
from nl2sql.settings.database import DatabaseSettings
from retrieval.introspection.duckdb_file import DuckDbSource
from retrieval.introspection.postgres.source import PostgresSource
from retrieval.introspection.source_database import SourceDatabase
from retrieval.introspection.sqlite_file import SqliteSource


class Connections(Protocol):
    """The settings, and the URLs of databases."""

    @property
    def settings(self) -> Settings: ...

    def reader_url(self, database: str) -> str:
        """For queries. Raise SettingsError."""
        ...

    def indexer_url(self, database: str) -> str:
        """For reading the catalog. Raise SettingsError."""
        ...


def open_database(connections: Connections, name: str) -> Database:
    """The connections on which guarded queries run. Raises SettingsError."""
    return _DATABASES[connections.settings.databases[name].dialect](connections, name)


def build_source(connections: Connections, name: str) -> SourceDatabase[Any]:
    """The source that indexing reads. Raises SettingsError."""
    return _SOURCES[connections.settings.databases[name].dialect](connections, name)


def read_allowlist(database: DatabaseSettings) -> Allowlist | None:
    """The database's own allowlist; None means the dialect's. Raises SettingsError."""
    if database.allowlist is None:
        return None
    return extend_allowlist(database.dialect, database.allowlist)


def _open_postgres(connections: Connections, name: str) -> Database:
    database = connections.settings.databases[name]
    return PostgresDatabase(
        name,
        connections.reader_url(name),
        connections.settings.limits,
        search_path=database.schemas,
        allowlist=read_allowlist(database),
    )


def _open_sqlite(connections: Connections, name: str) -> Database:
    return SqliteDatabase(name, _find_file(connections, name), connections.settings.limits)


def _open_duckdb(connections: Connections, name: str) -> Database:
    database = connections.settings.databases[name]
    file = _find_file(connections, name)
    return DuckDbDatabase(name, file, connections.settings.limits, read_allowlist(database))


def _build_postgres_source(connections: Connections, name: str) -> SourceDatabase[Any]:
    database = connections.settings.databases[name]

    def find_values_login() -> tuple[str, str]:
        """The URL, and the role to switch to, that can read everything that any query can.

        That is the reader itself, except under row-level security, where the reader's own role
        cannot SELECT anything.
        """
        if database.policy is not None:
            url = connections.indexer_url(name)
            if role := find_index_role(url, name):
                return url, role
        return connections.reader_url(name), ""

    return PostgresSource(
        name,
        connections.indexer_url(name),
        reader_role=find_login(connections.reader_url(name)),
        search_path=find_search_path(connections.reader_url(name)),
        index_role=name_index_role(name) if database.policy else "",
        schemas=database.schemas,
        find_values_login=find_values_login,
    )


def _build_sqlite_source(connections: Connections, name: str) -> SourceDatabase[Any]:
    return SqliteSource(name, _find_file(connections, name))


def _build_duckdb_source(connections: Connections, name: str) -> SourceDatabase[Any]:
    schemas = connections.settings.databases[name].schemas
    return DuckDbSource(name, _find_file(connections, name), schemas)


def _find_file(connections: Connections, name: str) -> Path:
    file = connections.settings.databases[name].reader.file_path
    assert file is not None, "databases of this dialect are files"
    return file


_DATABASES: Mapping[str, Callable[[Connections, str], Database]] = {
    "postgres": _open_postgres,
    "sqlite": _open_sqlite,
    "duckdb": _open_duckdb,
}
_SOURCES: Mapping[str, Callable[[Connections, str], SourceDatabase[Any]]] = {
    "postgres": _build_postgres_source,
    "sqlite": _build_sqlite_source,
    "duckdb": _build_duckdb_source,
}
