"""Sampling values on real databases: the same keys on SQLite, DuckDB and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nl2sql.catalog import Catalog
from retrieval.introspection.duckdb_file import DuckDbSource, read_duckdb_catalog
from retrieval.introspection.source_database import SourceDatabase, Unreadable
from retrieval.introspection.sqlite_file import SqliteSource, read_sqlite_catalog
from retrieval.joins.inference import infer_keys
from serve_app.composition.wiring import Wiring
from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.sqlite import shop as sqlite_shop
from tests.fakes import build_table

SCRIPT = """
CREATE TABLE "Order ""x"" Customers" (id integer PRIMARY KEY, name varchar);
CREATE TABLE stores (name varchar, store_no integer);
CREATE TABLE orders (id integer PRIMARY KEY, "order x customer id" integer, store_no integer);
INSERT INTO "Order ""x"" Customers" VALUES (1, 'a'), (2, 'b'), (3, 'c');
INSERT INTO stores VALUES ('n', 10), ('s', 20);
INSERT INTO orders VALUES (1, 1, 10), (2, 2, 20), (3, NULL, 10), (4, 3, NULL);
"""
KEYS = {
    (("order x customer id",), 'Order "x" Customers'),
    (("store_no",), "stores"),
}


@pytest.mark.parametrize(
    ("write", "read", "source"),
    [
        (sqlite_shop.write, read_sqlite_catalog, SqliteSource),
        (duckdb_shop.write, read_duckdb_catalog, DuckDbSource),
    ],
    ids=["sqlite", "duckdb"],
)
def test_keys_of_a_file_are_inferred(
    write: Callable[[Path, str], None],
    read: Callable[..., Catalog],
    source: Callable[[str, Path], SourceDatabase[Any]],
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.db"
    write(path, SCRIPT)
    catalog = read(path, database="x")
    with source("x", path) as sampler:
        keys = infer_keys(catalog, sampler)
    assert {(key.columns, key.target.split(".", 1)[1]) for key in keys} == KEYS


@pytest.fixture
def demo(wiring: Wiring) -> Iterator[tuple[Catalog, SourceDatabase[Any]]]:
    with wiring.source("demo_erp") as sampler:
        yield sampler.read_catalog(), sampler


def test_hidden_keys_of_the_demo_are_found_again(demo: tuple[Catalog, SourceDatabase[Any]]) -> None:
    catalog, sampler = demo
    declared = {
        frozenset({(key.table, key.columns), (key.target, key.target_columns)})
        for key in catalog.foreign_keys
    }
    keys = infer_keys(replace(catalog, foreign_keys=()), sampler)
    inferred = {
        frozenset({(key.table, key.columns), (key.target, key.target_columns)}) for key in keys
    }
    assert len(inferred & declared) >= 0.7 * len(declared)
    assert len(inferred & declared) >= 0.9 * len(inferred)


def test_what_the_role_may_not_read_is_not_told(demo: tuple[Catalog, SourceDatabase[Any]]) -> None:
    _, sampler = demo
    secret = build_table("pg_catalog.pg_authid", "oid integer", "rolname text", key=("oid",))
    assert sampler.contain(secret, "rolname", secret, "rolname") is None
    assert not sampler.is_unique(secret, "rolname")
    assert sampler.contain(secret, "nothing", secret, "nothing") is None


def test_postgres_is_not_written_to(demo: tuple[Catalog, SourceDatabase[Any]]) -> None:
    _, sampler = demo
    assert isinstance(sampler.fetch("CREATE TABLE evil (x integer)", 2000), Unreadable)
