"""The implementations for each dialect of a configured database; new dialects are added here."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from execution.allowlists import Allowlist, extend_allowlist
from execution.duckdb.database import DuckDbDatabase
from execution.executor import Database
from execution.policies.row_level_security.apply import find_index_role
from execution.policies.row_level_security.blocks import name_index_role
from execution.postgres.database import PostgresDatabase
from execution.sqlite.database import SqliteDatabase
from nl2sql.settings.database import DatabaseSettings
from retrieval.introspection.duckdb_file import DuckDbSource
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from retrieval.introspection.postgres.source import PostgresSource
from retrieval.introspection.source_database import SourceDatabase
from retrieval.introspection.sqlite_file import SqliteSource

if TYPE_CHECKING:
    from serve_app.composition.wiring import Wiring


def open_database(wiring: Wiring, name: str) -> Database:
    """The connections on which guarded queries run. Raises SettingsError."""
    database, limits = wiring.settings.databases[name], wiring.settings.limits
    match database.dialect:
        case "sqlite":
            return SqliteDatabase(name, _find_file(database), limits)
        case "duckdb":
            return DuckDbDatabase(name, _find_file(database), limits, read_allowlist(database))
        case _:
            url, allowlist = wiring.reader_url(name), read_allowlist(database)
            return PostgresDatabase(
                name, url, limits, search_path=database.schemas, allowlist=allowlist
            )


def build_source(wiring: Wiring, name: str) -> SourceDatabase[Any]:
    """The source that indexing reads. Raises SettingsError."""
    database = wiring.settings.databases[name]
    match database.dialect:
        case "sqlite":
            return SqliteSource(name, _find_file(database))
        case "duckdb":
            return DuckDbSource(name, _find_file(database), database.schemas)
        case _:
            return _build_postgres_source(wiring, name)


def read_allowlist(database: DatabaseSettings) -> Allowlist | None:
    """The database's own allowlist; None means the dialect's. Raises SettingsError."""
    if database.allowlist is None:
        return None
    return extend_allowlist(database.dialect, database.allowlist)


def _build_postgres_source(wiring: Wiring, name: str) -> SourceDatabase[Any]:
    database = wiring.settings.databases[name]

    def find_values_login() -> tuple[str, str]:
        """The URL, and the role to switch to, that can read everything that any query can.

        That is the reader itself, except under row-level security, where the reader's own role
        cannot SELECT anything.
        """
        if database.policy is not None:
            url = wiring.indexer_url(name)
            if role := find_index_role(url, name):
                return url, role
        return wiring.reader_url(name), ""

    read_catalog = partial(
        read_postgres_catalog,
        wiring.indexer_url(name),
        database=name,
        reader_role=find_login(wiring.reader_url(name)),
        search_path=find_search_path(wiring.reader_url(name)),
        index_role=name_index_role(name) if database.policy else "",
        schemas=database.schemas,
    )
    return PostgresSource(name, read_catalog, find_values_login)


def _find_file(database: DatabaseSettings) -> Path:
    file = database.reader.file_path
    assert file is not None, "databases of this dialect are files"
    return file


# In the options of a server: -c NAME=VALUE, -cNAME=VALUE or --NAME=VALUE.
_SEARCH_PATH = re.compile(r"(?:-c\s*|--)search[_-]path=((?:\\.|\S)*)")


def find_login(url: str) -> str:
    """The login that a URL of PostgreSQL names, before its host or as ``?user=``; empty: none.

    >>> find_login("postgresql://reader%40x@db/shop"), find_login("postgresql://db/shop?user=ann")
    ('reader@x', 'ann')
    """
    parts = urlsplit(url)
    return unquote(parts.username or "") or parse_qs(parts.query).get("user", [""])[-1]


def find_search_path(url: str) -> str:
    """The search path that a URL of PostgreSQL sets by ``?options=``; empty: none.

    >>> find_search_path("postgresql://ann@db/shop?options=-csearch_path%3Dsales%2Cpublic")
    'sales,public'
    """
    options = parse_qs(urlsplit(url).query).get("options", [""])[-1]
    found = _SEARCH_PATH.findall(options)
    return re.sub(r"\\(.)", r"\1", found[-1]) if found else ""
