"""The shop of ``fixtures/shop_duckdb.sql`` as a file, and how the tests on DuckDB ask it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from execution.duckdb.database import DuckDbDatabase
from nl2sql.catalog import Catalog
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, GuardedQuery, ResultSet
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from tests.execution.expecting import expect
from tests.golden import load_text

LIMITS = LimitSettings(statement_timeout_ms=30_000, pool_size=2, file_memory_mib=256)
TABLES = ("main.customers", "main.Orders", "staff.employees")
ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "


def build_shop(path: Path) -> Catalog:
    """Writes the shop to ``path``; its catalog, in which the table ``secrets`` is not yet."""
    write(path, load_text("shop_duckdb.sql"))
    catalog = read_duckdb_catalog(path, database="shop")
    write(path, "CREATE TABLE secrets (id INT, x TEXT); INSERT INTO secrets VALUES (1, 'hidden')")
    return catalog


@dataclass(frozen=True, slots=True)
class ExposedShop:
    """A shop that no test changes, its database, and files beside it that an attack could read."""

    path: Path
    catalog: Catalog
    database: DuckDbDatabase

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


@contextmanager
def open_exposed(folder: Path) -> Iterator[ExposedShop]:
    """An exposed shop in ``folder``."""
    path = folder / "shop.duckdb"
    catalog = build_shop(path)
    for name in ("notes.txt", "notes.csv"):
        (folder / name).write_text("a,b\n2,1\n")
    (folder / "notes.json").write_text('{"a": 1}\n')
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS a) TO '{folder}/notes.parquet'")
    database = DuckDbDatabase(catalog.database, path, LIMITS)
    yield ExposedShop(path, catalog, database)
    asyncio.run(database.close())


def write(path: Path, script: str) -> None:
    """Runs ``script`` on the file, which is made if it is not there."""
    with duckdb.connect(path) as connection:
        connection.execute(script)


def read_raw(path: Path, sql: str) -> list[tuple[object, ...]]:
    """What DuckDB answers to ``sql`` itself."""
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(sql).fetchall()


def query(sql: str, *tables: str, restricted: bool = False) -> GuardedQuery:
    """``sql`` as if it had passed the guard."""
    return GuardedQuery("shop", sql, tables or TABLES, dialect="duckdb", restricted=restricted)


async def run(database: DuckDbDatabase, sql: str, max_rows: int = 10, *tables: str) -> ResultSet:
    """The result of ``sql``, which must have one."""
    return expect(ResultSet, await database.execute(query(sql, *tables), max_rows))


async def fail(database: DuckDbDatabase, sql: str, *tables: str) -> Diagnostic:
    """The error of ``sql``, which must have one."""
    return expect(Diagnostic, await database.execute(query(sql, *tables), 10))
