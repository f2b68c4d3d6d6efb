"""The shop in DuckDB, and the doors to it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from execution.duckdb_database import DuckDbDatabase
from nl2sql.catalog import Catalog
from tests.execution.duckdb.shop import LIMITS, build_shop


@dataclass(frozen=True, slots=True)
class Besieged:
    """A shop that nobody writes, the door to it, and beside it files that an attack could read."""

    path: Path
    catalog: Catalog
    door: DuckDbDatabase

    def aim(self, attack: str, path: Path | None = None, folder: Path | None = None) -> str:
        """``attack`` with its target put in: this file, or ``path``.

        What it would write is for ``folder``; what it would read is always beside this file.
        """
        beside = self.path.parent
        aimed = attack.replace("FOLDER/notes", f"{beside}/notes")
        aimed = aimed.replace("FOLDER/*", f"{beside}/*")
        return aimed.replace("FILE", str(path or self.path)).replace(
            "FOLDER", str(folder or beside)
        )


@pytest.fixture(scope="session")
def besieged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Besieged]:
    """The one that all tests share which change nothing."""
    folder = tmp_path_factory.mktemp("besieged")
    path = folder / "shop.duckdb"
    catalog = build_shop(path)
    for name in ("notes.txt", "notes.csv"):
        (folder / name).write_text("a,b\n2,1\n")
    (folder / "notes.json").write_text('{"a": 1}\n')
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS a) TO '{folder}/notes.parquet'")
    door = DuckDbDatabase(catalog.database, path, LIMITS)
    yield Besieged(path, catalog, door)
    asyncio.run(door.close())


@pytest.fixture
def path(besieged: Besieged, tmp_path: Path) -> Path:
    """A shop of the test's own."""
    return Path(shutil.copy(besieged.path, tmp_path))


@pytest.fixture
async def database(path: Path) -> AsyncIterator[DuckDbDatabase]:
    """The door to ``path``."""
    door = DuckDbDatabase("shop", path, LIMITS)
    yield door
    await door.close()
