"""What PostgreSQL finds in a query beyond what the guard allowed is not run, and counted."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from execution.allowlists import load_allowlist
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, EmbeddedServer
from execution.postgres.plan_verification import READINGS_DISAGREE
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, Explained, GuardedQuery, ResultSet
from tests.attacks.attack import CALLS
from tests.embedded_databases import fill_database
from tests.execution.expecting import expect
from tests.golden import load_text

_DATABASE = "third_reading"
_SCHEMA = load_text("schemas/third_reading.sql")


@pytest.fixture(scope="module")
def url(embedded_server: EmbeddedServer) -> Iterator[str]:
    with fill_database(embedded_server, _DATABASE, _SCHEMA):
        yield embedded_server.url(_DATABASE, READER)


@pytest.fixture
async def database(url: str):  # type: ignore[no-untyped-def]
    opened = PostgresDatabase(_DATABASE, url, LimitSettings(), search_path=("lab",))
    yield opened
    await opened.close()


def query(sql: str, *tables: str) -> GuardedQuery:
    return GuardedQuery(_DATABASE, sql, tuple(f"lab.{table}" for table in tables))


EXPLAINED = {
    "table": query("SELECT upper(name) FROM lab.open", "open"),
    "partitions": query("SELECT * FROM lab.parted", "parted"),
    "children": query("SELECT id FROM lab.parent", "parent"),
    "view_with_a_function": query("SELECT * FROM lab.view", "view"),
    "view_of_a_view": query("SELECT v.kind FROM lab.view_of_view AS v", "view_of_view"),
    "row_security_with_a_function": query("SELECT * FROM lab.secured", "secured"),
    "generated_column": query("SELECT long FROM lab.computed", "computed"),
    "cte_and_window": query(
        "WITH c AS MATERIALIZED (SELECT dept, rank() OVER (ORDER BY id) AS r FROM lab.open) "
        "SELECT c.dept, max(r) FROM c, generate_series(1, 2) AS g(n) GROUP BY c.dept",
        "open",
    ),
}

ALARMING = {
    "table_beside": query("SELECT 1 FROM lab.open, lab.secret", "open"),
    "table_in_a_condition": query(
        "SELECT 1 FROM lab.open WHERE id IN (SELECT id FROM lab.secret)", "open"
    ),
    "one_of_the_partitions": query("SELECT * FROM lab.parted_1"),
    "table_behind_a_view": query("SELECT memo FROM lab.secret, lab.open", "open"),
    "catalog": query("SELECT relname FROM pg_catalog.pg_class"),
    "inlined_function": query("SELECT n FROM lab.count_secrets() AS c(n)"),
    "function_of_one_argument": query("SELECT q.definer FROM (SELECT 1) AS q(a)"),
    "function_in_a_sort": query("SELECT id FROM lab.open ORDER BY hashtext(name)", "open"),
    "function_in_a_window": query(
        "SELECT count(*) OVER (PARTITION BY hashtext(name)) FROM lab.open", "open"
    ),
    "function_of_settings": query("SELECT set_config('work_mem', '1GB', false)"),
}


@pytest.mark.parametrize("asked", EXPLAINED.values(), ids=EXPLAINED)
async def test_what_the_querys_tables_bring_along_is_explained(
    asked: GuardedQuery, database: PostgresDatabase
) -> None:
    assert isinstance(await database.explain(asked), Explained)
    assert isinstance(await database.execute(asked, 10), ResultSet)
    fresh = replace(asked, sql=f"{asked.sql} ")
    assert isinstance(await database.execute(fresh, 10), ResultSet)


@pytest.mark.parametrize("asked", ALARMING.values(), ids=ALARMING)
async def test_whatever_else_the_database_finds_is_refused_and_logged(
    asked: GuardedQuery, database: PostgresDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, logger="quorumsql.guard"):
        told = expect(Diagnostic, await database.explain(asked))
        untold = expect(Diagnostic, await database.execute(replace(asked, restricted=True), 10))
    assert told.sqlstate == untold.sqlstate == READINGS_DISAGREE
    # What is found could reveal what is hidden.
    assert ":" in told.message.partition("finds more in it")[2]
    assert untold.message.endswith("finds more in it.")
    assert len(caplog.records) == 2


@pytest.mark.parametrize(
    "attack",
    [attack for attack in CALLS if "currencies" not in attack.sql],
    ids=lambda attack: attack.id,
)
async def test_a_call_by_attribute_notation_shows_in_the_plan(attack, database) -> None:  # type: ignore[no-untyped-def]
    # As if the two readings before this one had let it through; row_to_json is on the allowlist.
    allowed = load_allowlist("postgres")
    narrow = replace(allowed, functions=allowed.functions - {"row_to_json"})
    found = PostgresDatabase(_DATABASE, database._pool._url, LimitSettings(), allowlist=narrow)
    refused = await found.explain(GuardedQuery(_DATABASE, attack.sql, ()))
    await found.close()
    assert isinstance(refused, Diagnostic)
    # Or PostgreSQL itself refuses, which asks for the right to call before it explains.
    assert refused.sqlstate in (READINGS_DISAGREE, "42501"), refused
