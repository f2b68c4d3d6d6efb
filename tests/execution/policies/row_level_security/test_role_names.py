"""row-level security where names need quoting, and where masks, types and views come in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from execution.guard.guard import guard_query
from execution.policies.access import CompiledPolicy
from execution.policies.policy_file import parse_policy
from execution.policies.row_level_security.apply import (
    apply_row_security,
    check_applied,
    remove_row_security,
)
from execution.policies.row_level_security.blocks import build_removal, render_script
from execution.policies.row_level_security.ddl import RowSecurity, build_row_security
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import INDEXER, READER, EmbeddedServer
from nl2sql.catalog import Catalog
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, GuardedQuery, Principal, ResultSet, Violation
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from tests.embedded_databases import fill_database
from tests.execution.expecting import expect
from tests.golden import load_text

_DATABASE = "odd \"db's"
_ROLE = 'Sales "EU" $quorumsql$; it\'s %s'

_SCHEMA = load_text("schemas/odd_names.sql")

_TABLE = 'Odd "S".select'
_POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {"Region": {"type": "text"}},
    "roles": {
        _ROLE: {
            "tables": {
                "visible": [_TABLE, 'Odd "S".a.b', 'Odd "S"._1', 'Odd "S".Open', 'Odd "S".Own']
            },
            "row_filters": {_TABLE: '"Region\'s" = :Region', 'Odd "S".Own': "region = :Region"},
            "masked_columns": [f"{_TABLE}.order", f"{_TABLE}.secret"],
        },
        "all": {"tables": {"visible": "*"}, "rows": "all"},
    },
}

_QUERIES = [
    'SELECT * FROM "Odd ""S"""."select"',
    'SELECT count(*) FROM "Odd ""S"""."a.b"',
    'SELECT * FROM "Odd ""S"""._1',
    'SELECT * FROM "Odd ""S"""."Open"',
    'SELECT * FROM "Odd ""S"""."Own"',
]


@pytest.fixture(scope="module")
def admin_url(embedded_server: EmbeddedServer) -> Iterator[str]:
    with fill_database(embedded_server, _DATABASE, _SCHEMA) as url:
        yield url
        remove_row_security(url, _DATABASE)


@pytest.fixture(scope="module")
def catalog(admin_url: str) -> Catalog:
    return read_postgres_catalog(admin_url, database=_DATABASE, reader_role=READER)


def compile_odd(catalog: Catalog, *, row_level_security: bool) -> CompiledPolicy:
    return CompiledPolicy(parse_policy(_POLICY), catalog, row_level_security=row_level_security)


def build_odd_wall(catalog: Catalog, url: str) -> RowSecurity:
    compiled = compile_odd(catalog, row_level_security=True)
    return build_row_security(compiled, reader=READER, indexer=INDEXER)


@pytest.mark.parametrize("role", [_ROLE, "all"], ids=["odd", "all"])
async def test_the_guard_gets_the_same_rows_behind_it(
    catalog: Catalog, admin_url: str, embedded_server: EmbeddedServer, role: str
) -> None:
    remove_row_security(admin_url, _DATABASE)
    principal = Principal("ann", (role,), (("Region", "it's"),))
    reader = PostgresDatabase(_DATABASE, embedded_server.url(_DATABASE, READER), LimitSettings())
    try:
        results: list[list[ResultSet | Diagnostic]] = []
        for row_level_security in (False, True):
            if row_level_security:
                apply_row_security(admin_url, build_odd_wall(catalog, admin_url))
            access = compile_odd(catalog, row_level_security=row_level_security).access(principal)
            assert not isinstance(access, Violation)
            results.append([])
            for query in _QUERIES:
                guarded = expect(GuardedQuery, guard_query(query, access))
                results[-1].append(await reader.execute(guarded, 10))
        for query, one, two in zip(_QUERIES, *results, strict=True):
            assert isinstance(one, ResultSet)
            assert isinstance(two, ResultSet)
            assert one.rows == two.rows, query
            assert one.rows
    finally:
        await reader.close()


def test_the_script_and_its_removal_survive_such_names(catalog: Catalog, admin_url: str) -> None:
    security = build_odd_wall(catalog, admin_url)
    script = render_script(security.script)
    for text in (script, render_script(build_removal(_DATABASE)), script):
        with psycopg.connect(admin_url, autocommit=True) as connection:
            connection.execute(text.encode())
    assert check_applied(admin_url, security) == ""
