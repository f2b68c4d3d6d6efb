"""How many queries that other systems published the guard allows.

`python -m bench.foreign_queries FILE…`, each a JSON file of id → SQLite query, as DeepEye-SQL has
in `results/spider-test` and `results/bird-dev` (https://github.com/HKUSTDial/DeepEye-SQL, MIT).
Their databases need not be there: each query gets an empty one with the tables and columns that it
names.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import tempfile
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import traverse_scope

from execution.guard.guard import SqlGuard
from nl2sql.types import Principal, Violation
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.fakes import FakeCatalogs


def find_tables(sql: str) -> dict[str, set[str]]:
    """The columns of each table that the query names; one without a qualifier is the first table's.

    Raises SqlglotError.
    """
    tables: dict[str, set[str]] = defaultdict(set)
    for scope in traverse_scope(sqlglot.parse_one(sql, read="sqlite")):
        sources = {
            alias.lower(): source.name.lower()
            for alias, source in scope.sources.items()
            if isinstance(source, exp.Table)
        }
        for name in sources.values():
            tables[name] |= set()
        for column in scope.columns:
            alias = column.table.lower() or next(iter(sources), "")
            if alias in sources:
                tables[sources[alias]].add(column.name.lower())
    return tables


def build_database(file: Path, sql: str) -> str:
    """Makes an empty database for the query; the reason if it does not run there, else empty."""
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as connection:
        try:
            for name, columns in find_tables(sql).items():
                listed = ", ".join(
                    exp.to_identifier(column, quoted=True).sql() for column in columns
                )
                quoted = exp.to_identifier(name, quoted=True).sql()
                connection.execute(f"CREATE TABLE {quoted} ({listed or 'id'})")
            connection.execute(f"EXPLAIN {sql}")
        except (SqlglotError, sqlite3.Error) as error:
            return str(error)
    return ""


async def count(queries: list[str], file: Path) -> Counter[str]:
    """How many are allowed, refused, or do not run on the database made for them."""
    verdicts: Counter[str] = Counter()
    for sql in queries:
        if build_database(file, sql):
            verdicts["not run"] += 1
            continue
        catalog = read_sqlite_catalog(file, database="foreign")
        guard = SqlGuard(FakeCatalogs(catalog))
        verdict = await guard.guard("foreign", sql, Principal("ann"))
        if isinstance(verdict, Violation):
            print(f"refused: {verdict.message} {' '.join(sql.split())}")
        verdicts["refused" if isinstance(verdict, Violation) else "allowed"] += 1
    return verdicts


def main() -> None:
    """Prints a line for each file."""
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:]:
            queries = list(json.loads(Path(name).read_text(encoding="utf-8")).values())
            verdicts = asyncio.run(count(queries, Path(folder) / "foreign.sqlite"))
            print(name, dict(verdicts))


if __name__ == "__main__":
    main()
