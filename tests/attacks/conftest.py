"""The arenas, and the guarded way into the same databases."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from execution.duckdb.database import DuckDbDatabase
from execution.executor import Database
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer
from execution.sqlite.database import SqliteDatabase
from nl2sql.catalog import Catalog
from nl2sql.settings import LimitSettings
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.attacks.arenas import UNTOUCHED, Arena, DuckDbArena, PostgresArena, SqliteArena
from tests.attacks.attack import SECRET, SECRET_FILE, Engine
from tests.attacks.guarded import GuardedWay
from tests.oracle.postgres_copies import quieten

_DATABASE = "scratch"

# What runs to its end is given time; what never ends is shown to be ended.
_PATIENT = LimitSettings(statement_timeout_ms=20_000, pool_size=1)
_HASTY = LimitSettings(statement_timeout_ms=250, pool_size=1)


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """Where attacks read and write files; whoever runs the server may enter it."""
    path = Path(tempfile.mkdtemp(prefix="attacks-"))
    path.chmod(0o777)
    (path / SECRET_FILE).write_text(f"{SECRET}\n")
    (path / "table.csv").write_text(f"note\n{SECRET}\n")
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="session")
def server(folder: Path) -> Iterator[EmbeddedServer]:
    """A PostgreSQL of its own: attacks on it succeed."""
    started = EmbeddedServer(folder / "postgres")
    started.start()
    quieten(started)
    yield started
    started.stop()


@pytest.fixture(scope="session")
def arenas(server: EmbeddedServer, folder: Path) -> Iterator[Mapping[Engine, Arena]]:
    """Without the guard, by engine."""
    built: dict[Engine, Arena] = {
        "postgres": PostgresArena(server, folder),
        "sqlite": SqliteArena(folder),
        "duckdb": DuckDbArena(folder),
    }
    yield built
    for arena in built.values():
        arena.close()


@pytest.fixture(scope="session")
def guarded(
    arenas: Mapping[Engine, Arena], server: EmbeddedServer, folder: Path
) -> Iterator[Mapping[Engine, GuardedWay]]:
    """With the guard, by engine, on databases that no attack has touched."""
    url = server.url(UNTOUCHED, SUPERUSER)
    reader = server.url(UNTOUCHED, READER)
    sqlite, duckdb = folder / "pristine.sqlite", folder / "pristine.duckdb"
    catalogs: dict[Engine, Catalog] = {
        "postgres": read_postgres_catalog(
            url, database=_DATABASE, reader_role=READER, schemas=("main",)
        ),
        "sqlite": read_sqlite_catalog(sqlite, database=_DATABASE),
        "duckdb": read_duckdb_catalog(duckdb, database=_DATABASE),
    }

    def build_database(engine: Engine, limits: LimitSettings) -> Database:
        if engine == "postgres":
            return PostgresDatabase(_DATABASE, reader, limits, search_path=("main",))
        if engine == "sqlite":
            return SqliteDatabase(_DATABASE, sqlite, limits)
        return DuckDbDatabase(_DATABASE, duckdb, limits)

    with asyncio.Runner() as runner:
        ways = {
            engine: GuardedWay(
                catalog,
                build_database(engine, _PATIENT),
                build_database(engine, _HASTY),
                runner,
                folder,
            )
            for engine, catalog in catalogs.items()
        }
        yield ways
        for way in ways.values():
            way.close()
