"""The shop of ``fixtures/shop_sqlite.sql`` as a file, for the tests of everything on SQLite."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from nl2sql.catalog import Catalog
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.golden import load_text

# A text of 800,000 letters, which costs nothing to build and seconds to search.
LONG = "'aaaaaaaaaa'"
for times in (10, 10, 10, 10, 8):
    LONG = f"replace({LONG}, 'a', '{'a' * times}')"


def build_shop(path: Path) -> Catalog:
    """Writes the shop to ``path``; its catalog, in which the table ``secrets`` is not yet."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(load_text("shop_sqlite.sql"))
        catalog = read_sqlite_catalog(path, database="shop")
        connection.execute("CREATE TABLE secrets (id INT, x TEXT)")
        connection.execute("INSERT INTO secrets VALUES (1, 'hidden')")
        connection.commit()
    return catalog


def write(path: Path, script: str) -> None:
    """Runs ``script`` on the file, which is made if it is not there."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


def read_raw(path: Path, sql: str) -> list[tuple[object, ...]]:
    """What SQLite answers to ``sql`` itself."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.text_factory = lambda text: text.decode(errors="replace")
        return connection.execute(sql).fetchall()
