"""The shop in DuckDB, and the databases to it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from execution.duckdb.database import DuckDbDatabase
from tests.execution.duckdb.shop import LIMITS, Besieged, open_besieged


@pytest.fixture(scope="session")
def besieged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Besieged]:
    """The one that all tests share which change nothing."""
    with open_besieged(tmp_path_factory.mktemp("besieged")) as opened:
        yield opened


@pytest.fixture
def path(besieged: Besieged, tmp_path: Path) -> Path:
    """A shop of the test's own."""
    return Path(shutil.copy(besieged.path, tmp_path))


@pytest.fixture
async def database(path: Path) -> AsyncIterator[DuckDbDatabase]:
    """The database to ``path``."""
    database = DuckDbDatabase("shop", path, LIMITS)
    yield database
    await database.close()
