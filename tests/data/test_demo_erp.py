"""The demo ERP loads, is consistent, and its questions and policies fit it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import sqlglot
from sqlglot import exp

from data.demo_erp import QUESTIONS, TableRows, read_tables
from execution.postgres.embedded import SUPERUSER, EmbeddedServer
from tests.demo import MODULES

GOLDS: list[dict[str, Any]] = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
Connection = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture(scope="module")
def tables() -> list[TableRows]:
    return list(read_tables())


@pytest.fixture(scope="module")
def erp(embedded_server: EmbeddedServer) -> Iterator[Connection]:
    """A connection to a server that holds the whole ERP."""
    url = embedded_server.url("demo_erp", SUPERUSER)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"SET search_path TO {', '.join(MODULES)}".encode())
        yield connection


@pytest.fixture(scope="module")
def columns(erp: Connection) -> dict[str, set[str]]:
    """The columns of each table."""
    found: dict[str, set[str]] = {}
    for table, column in erp.execute(
        "SELECT table_schema || '.' || table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = ANY(%s)",
        [list(MODULES)],
    ):
        found.setdefault(table, set()).add(column)
    return found


def rows(connection: Connection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query.encode()).fetchall()


def test_every_table_is_filled_once(tables: list[TableRows], columns: dict[str, set[str]]) -> None:
    assert sorted(t.table for t in tables) == sorted(columns)
    assert all(set(t.columns) == columns[t.table] and t.rows for t in tables)
    assert len(tables) >= 62
    assert {t.table.split(".")[0] for t in tables} == set(MODULES)
    assert len(MODULES) == 10
    assert len({t.table.split(".")[1] for t in tables}) == len(tables), "names repeat"
    assert 100_000 <= sum(len(t.rows) for t in tables) <= 160_000


def test_every_table_and_column_has_a_comment(erp: Connection) -> None:
    missing = rows(
        erp,
        "SELECT c.oid::regclass::text, a.attname FROM pg_class c JOIN pg_namespace n"
        " ON n.oid = c.relnamespace LEFT JOIN pg_attribute a ON a.attrelid = c.oid"
        " AND a.attnum >= 0 AND NOT a.attisdropped WHERE c.relkind = 'r'"
        f" AND n.nspname IN {MODULES} AND (obj_description(c.oid) IS NULL"
        " OR col_description(c.oid, a.attnum) IS NULL)",
    )
    assert missing == []


@pytest.mark.parametrize("gold", GOLDS, ids=lambda g: g["id"])
def test_gold_answers_without_ties(
    erp: Connection, columns: dict[str, set[str]], gold: dict[str, Any]
) -> None:
    assert 0 < len(rows(erp, gold["query"])) <= 50
    tree = sqlglot.parse_one(gold["query"], dialect="postgres")
    homes = {name.split(".")[1]: name.split(".")[0] for name in columns}
    used = {homes[t.name] for t in tree.find_all(exp.Table) if t.name in homes}
    assert used == set(gold["modules"])
    order = tree.args.get("order")
    if order is None:
        return
    assert isinstance(tree, exp.Select)
    aliases = {e.alias: e.this for e in tree.selects if isinstance(e, exp.Alias)}
    keys = [aliases.get(o.this.sql(), o.this).copy() for o in order.expressions]
    width = len(tree.selects)
    probe = tree.select(*keys)
    limit = tree.args.get("limit")
    if limit is not None:  # one more row: a tie at the cut would show
        probe = probe.limit(int(limit.expression.this) + 1)
    sort_keys = [row[width:] for row in rows(erp, probe.sql(dialect="postgres"))]
    assert len(set(sort_keys)) == len(sort_keys), "rows tie, so that their order is not determined"
