"""The shop in DuckDB, and the databases to it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from execution.duckdb.database import DuckDbDatabase
from tests.execution.duckdb.shop import LIMITS, ExposedShop, open_exposed


@pytest.fixture(scope="session")
def exposed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExposedShop]:
    """The one that all tests share which change nothing."""
    with open_exposed(tmp_path_factory.mktemp("exposed")) as opened:
        yield opened


@pytest.fixture
def path(exposed: ExposedShop, tmp_path: Path) -> Path:
    """A shop of the test's own."""
    return Path(shutil.copy(exposed.path, tmp_path))


@pytest.fixture
async def database(path: Path) -> AsyncIterator[DuckDbDatabase]:
    """The database to ``path``."""
    database = DuckDbDatabase("shop", path, LIMITS)
    yield database
    await database.close()
