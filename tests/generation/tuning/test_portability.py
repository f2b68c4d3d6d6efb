from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

from data.benchmarks.load import load_benchmark
from data.benchmarks.types import SqliteFile
from generation.tuning.portability import is_portable, translate_type
from generation.tuning.targets import spell_query
from generation.tuning.variation import Names, Variation, vary_query
from nl2sql.catalog import Table
from nl2sql.sql.names import quote_name
from nl2sql.sql.parsing import parse_one
from retrieval.introspection.sqlite.catalog import read_sqlite_catalog

BENCH = os.environ.get("QUORUMSQL_BENCH", "")
TYPES = {
    "id": {"integer"},
    "name": {"text"},
    "born": {"date"},
    "pay": {"numeric"},
    "code": {"integer", "text"},
}


def check(sql: str) -> bool:
    tree = parse_one(sql, "sqlite")
    assert isinstance(tree, exp.Query)
    return is_portable(tree, TYPES)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name, COUNT(*) FROM t GROUP BY name HAVING AVG(pay) > 3 ORDER BY COUNT(*) DESC",
        "SELECT T1.name FROM t AS T1 WHERE T1.id IN (SELECT id FROM u) AND pay > id",
        "SELECT DISTINCT name FROM t ORDER BY name",
        "SELECT COUNT(DISTINCT name) FROM t WHERE name LIKE '%a' AND born > '2020-01-01'",
        "SELECT name FROM t WHERE pay > (SELECT AVG(pay) FROM t) UNION SELECT name FROM u",
        "SELECT name AS who, SUM(pay) AS total FROM t GROUP BY name ORDER BY total",
    ],
)
def test_plain_queries_are_portable(sql: str) -> None:
    assert check(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name, pay FROM t GROUP BY name",
        "SELECT T1.name FROM t AS T1 JOIN u AS T2 ON T1.id = T2.id GROUP BY T2.name",
        "SELECT name, MAX(pay) FROM t",
        "SELECT * FROM t GROUP BY name",
        "SELECT name FROM t GROUP BY name ORDER BY pay",
        "SELECT DISTINCT name FROM t ORDER BY pay",
        "SELECT name, COUNT(*) AS n FROM t GROUP BY name HAVING n > 2",
        "SELECT name FROM t WHERE name > 3",
        "SELECT name FROM t WHERE id = '3'",
        "SELECT name FROM t WHERE id = name",
        "SELECT name FROM t WHERE id NOT IN (SELECT name FROM u)",
        "SELECT name FROM t WHERE code = 3",
        "SELECT name FROM t WHERE born LIKE '2020%'",
        "SELECT AVG(name) FROM t",
        "SELECT pay / 3 FROM t",
        "SELECT strftime('%Y', born) FROM t",
        "SELECT name FROM t WHERE name GLOB 'a*'",
        "SELECT julianday(born) FROM t",
    ],
)
def test_what_only_sqlite_takes_is_not(sql: str) -> None:
    assert not check(sql)


@pytest.mark.skipif(not BENCH, reason="QUORUMSQL_BENCH names no folder of benchmarks")
def test_duckdb_takes_what_is_kept_of_spiders_queries() -> None:
    benchmark = load_benchmark(str(Path(BENCH) / "spider" / "train.json"), configured=())
    chosen = random.Random(2).sample(benchmark.examples, 400)
    known: dict[str, tuple[list[Table], duckdb.DuckDBPyConnection]] = {}
    outcomes: Counter[str] = Counter()
    for example in chosen:
        source = benchmark.databases[example.database]
        assert isinstance(source, SqliteFile)
        if example.database not in known:
            known[example.database] = build_empty(source.path)
        tables, connection = known[example.database]
        names = [quote_name(table.name, "sqlite") for table in tables]
        spelled = spell_query(example.golds[0], tables, names, "sqlite")
        assert spelled is not None
        same_names = Names.build(tables, Variation("duckdb", "same", {}))
        varied = vary_query(spelled, "sqlite", same_names)
        outcomes["kept" if varied else "left out"] += 1
        if varied:
            connection.execute(f"EXPLAIN {varied}")
    assert outcomes["kept"] > 300


def build_empty(path: Path) -> tuple[list[Table], duckdb.DuckDBPyConnection]:
    """The tables of a file, and the same ones without rows in DuckDB."""
    tables = list(read_sqlite_catalog(path, database="empty").tables)
    connection = duckdb.connect()
    for table in tables:
        columns = ", ".join(
            f"{quote_name(each.name, 'duckdb')} {translate_type(each.type)}"
            for each in table.columns
        )
        connection.execute(f"CREATE TABLE {quote_name(table.name, 'duckdb')} ({columns})")
    return tables, connection
