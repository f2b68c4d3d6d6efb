"""Every type of PostgreSQL on its way into Python, into JSON and back to the same meaning."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from execution.guard.guard import guard_query
from execution.policies.access import Access, CompiledPolicy
from execution.policies.policy_file import parse_policy
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer, build_embedded_url
from execution.postgres.values import JsonLoader
from nl2sql.results.json_values import to_json_value
from nl2sql.settings import LimitSettings
from nl2sql.types import GuardedQuery, Principal, ResultSet
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from tests.embedded_databases import fill_database
from tests.execution.conftest import Opener
from tests.execution.expecting import expect
from tests.execution.trusted import trust
from tests.golden import ARROW, load_cases

DEEP = "repeat('[', 200) || repeat(']', 200)"

# The type's name, the expression, the value by its repr, the value as JSON (empty: as the value).
VALUES = [
    *(
        (heading.removeprefix("postgres "), *(*line.split(ARROW), "")[:3])
        for heading, line in load_cases("values")
        if heading.startswith("postgres ")
    ),
    ("numeric", "1e400::numeric", repr(Decimal("1" + 400 * "0")), f'"1{400 * "0"}"'),
    ("bpchar(1000)", "'ab'::char(1000)", repr("ab".ljust(1000)), ""),
    ("jsonb", f"({DEEP})::jsonb", repr("[" * 200 + "]" * 200), ""),
    ("jsonb", "('[' || repeat('9', 600) || ']')::jsonb", f"[{'9' * 600}]", f'["{"9" * 600}"]'),
]


def query(sql: str) -> GuardedQuery:
    return trust("scratch", sql)


async def run(database: PostgresDatabase, sql: str) -> ResultSet:
    return expect(ResultSet, await database.execute(query(sql), 10))


@pytest.mark.parametrize(("kind", "expression", "value", "as_json"), VALUES)
async def test_a_value_keeps_its_meaning(
    kind: str, expression: str, value: str, as_json: str, open_database: Opener
) -> None:
    # Two limits: one under which most values come as they are, and one that makes them text first.
    for cell_bytes in (65_536, 1024):
        result = await run(open_database(cell_bytes=cell_bytes), f"SELECT {expression} AS v")
        ((given,),) = result.rows
        assert (result.types, result.cut) == ((kind,), ())
        assert repr(given) == value
        written = json.dumps(to_json_value(given), allow_nan=False)
        assert json.loads(written) == (json.loads(as_json) if as_json else given)


async def test_rows_keep_what_their_columns_are_called(open_database: Opener) -> None:
    database = open_database()
    for sql, columns, row in (
        ("SELECT 1 AS a, 2 AS a", ("a", "a"), (1, 2)),
        ("VALUES (1, 'x')", ("column1", "column2"), (1, "x")),
        ("SELECT", (), ()),
        ("TABLE lab.people ORDER BY id", ("id", "name", "salary"), (1, "Miller", 777)),
        ('SELECT 1 AS "c1", 2 AS "Ünï cödé" -- with a comment', ("c1", "Ünï cödé"), (1, 2)),
    ):
        result = await run(database, sql)
        assert (result.columns, result.rows[0]) == (columns, row)


async def test_what_a_value_looks_like_is_not_the_servers_to_configure(
    scratch: Any, open_database: Opener
) -> None:
    settings = {
        "TimeZone": "Asia/Tokyo",
        "DateStyle": "German",
        "IntervalStyle": "iso_8601",
        "extra_float_digits": "-2",
        "bytea_output": "escape",
        "transform_null_equals": "on",
    }
    sql = (
        "SELECT TIMESTAMPTZ '2025-06-30 12:00+00'::text, DATE '2025-06-30'::text, "
        "'02/03/2025'::date, INTERVAL '1 day'::text, (0.1::float8)::text, '\\x5c'::bytea::text,"
        " (SELECT count(*) FROM lab.people WHERE name = NULL)"
    )
    expected = (
        *("2025-06-30 12:00:00+00", "2025-06-30", dt.date(2025, 2, 3), "1 day", "0.1", "\\x5c", 0),
    )
    with psycopg.connect(scratch.admin_url, autocommit=True) as admin:
        try:
            for name, value in settings.items():
                admin.execute(f"ALTER DATABASE scratch SET {name} = '{value}'".encode())
            assert (await run(open_database(), sql)).rows == (expected,)
        finally:
            for name in settings:
                admin.execute(f"ALTER DATABASE scratch RESET {name}".encode())


async def test_a_database_of_bytes_without_an_encoding_can_be_read(
    embedded_server: EmbeddedServer,
) -> None:
    url = embedded_server.url("postgres", SUPERUSER)
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("DROP DATABASE IF EXISTS raw_bytes")
        admin.execute(
            "CREATE DATABASE raw_bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0"
        )
    with psycopg.connect(embedded_server.url("raw_bytes", SUPERUSER)) as connection:
        connection.execute("CREATE TABLE words (word text)")
        connection.execute("INSERT INTO words VALUES (convert_from('\\x41e942', 'SQL_ASCII'))")
        connection.execute("GRANT SELECT ON words TO quorumsql_reader")
    database = PostgresDatabase(
        "raw_bytes",
        build_embedded_url(embedded_server.socket_folder, "raw_bytes", "quorumsql_reader"),
        LimitSettings(),
    )
    try:
        assert (await run(database, "SELECT word FROM words")).rows == (("A\ufffdB",),)
    finally:
        await database.close()
        embedded_server.drop_database("raw_bytes")


async def test_a_masked_column_of_a_domain_that_is_never_null(
    embedded_server: EmbeddedServer,
) -> None:
    script = (
        "CREATE DOMAIN plain AS numeric(9,2) NOT NULL; CREATE DOMAIN deep AS plain;"
        "CREATE TABLE pay (id int, a plain, b deep); INSERT INTO pay VALUES (1, 5, 6)"
    )
    role = {"tables": {"visible": "*"}, "masked_columns": ["public.pay.a", "public.pay.b"]}
    policy = parse_policy({"version": 1, "roles": {"clerk": role | {"rows": "all"}}})
    with fill_database(embedded_server, "domains", script) as url:
        catalog = read_postgres_catalog(
            url, database="domains", reader_role=READER, schemas=("public",)
        )
        access = CompiledPolicy(policy, catalog).access(Principal("ann", ("clerk",)))
        query = guard_query("SELECT * FROM pay WHERE a IS NULL", expect(Access, access))
        reader_url = embedded_server.url("domains", READER)
        database = PostgresDatabase("domains", reader_url, LimitSettings())
        result = expect(ResultSet, await database.execute(expect(GuardedQuery, query), 10))
        await database.close()
    assert (result.rows, result.types) == (
        ((1, None, None),),
        ("int4", "numeric(9,2)", "numeric(9,2)"),
    )


async def test_placeholders_are_the_servers_own(open_database: Opener) -> None:
    database = open_database()
    asked = GuardedQuery(
        "scratch",
        "SELECT name FROM lab.people WHERE id = ANY($1) AND name LIKE $2 AND name <> '%s' AND $3",
        ("lab.people",),
        params=((1, 2), "M%", True),
    )
    assert expect(ResultSet, await database.execute(asked, 10)).rows == (("Miller",),)


@pytest.mark.parametrize(
    "text", ["[1e9999999999999999999]", "[1e-9999999999999999999]", "[1e9999999]", "[1e-999999999]"]
)
def test_a_number_that_only_json_can_hold_stays_text(text: str) -> None:
    value = JsonLoader(0).load(text.encode())
    assert value == text
    assert to_json_value(value) == text


@pytest.mark.parametrize("number", ["1e400", "1e-400", "0e999999999", "12.50", "1e131071"])
def test_a_number_that_numeric_can_hold_is_exact(number: str) -> None:
    value = JsonLoader(0).load(f"[{number}]".encode())
    assert value == [Decimal(number)]
    json.dumps(to_json_value(value), allow_nan=False)
