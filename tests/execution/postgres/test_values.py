"""Every type of PostgreSQL on its way into Python, into JSON and back to the same meaning."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest

from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import SUPERUSER, EmbeddedServer, build_embedded_url
from execution.postgres.values import JsonLoader
from nl2sql.results.json_values import Interval, to_json_value
from nl2sql.settings import LimitSettings
from nl2sql.types import GuardedQuery, ResultSet
from tests.execution.conftest import Opener
from tests.execution.expecting import expect
from tests.execution.trusted import trust

DEEP = "repeat('[', 200) || repeat(']', 200)"

# SQL, the type's name, the value, the value as JSON (None: as the value).
VALUES: tuple[tuple[str, str, object, Any], ...] = (
    ("true", "bool", True, None),
    ("32767::int2", "int2", 32767, None),
    ("-2147483648", "int4", -2147483648, None),
    ("9007199254740991", "int8", 9007199254740991, None),
    ("9007199254740993", "int8", 9007199254740993, "9007199254740993"),
    ("1.1::float4", "float4", 1.1, None),
    ("0.1::float8", "float8", 0.1, None),
    ("'-Infinity'::float8", "float8", float("-inf"), "-Infinity"),
    ("12.50::numeric(6,2)", "numeric(6,2)", Decimal("12.50"), 12.5),
    ("12.50", "numeric", Decimal("12.50"), 12.5),
    ("0.1234567890123456789", "numeric", Decimal("0.1234567890123456789"), "0.1234567890123456789"),
    ("1e400::numeric", "numeric", Decimal("1" + 400 * "0"), "1" + 400 * "0"),
    ("'NaN'::numeric", "numeric", Decimal("NaN"), "NaN"),
    ("'-Infinity'::numeric", "numeric", Decimal("-Infinity"), "-Infinity"),
    ("1234.5::numeric::money::numeric", "numeric", Decimal("1234.50"), 1234.5),
    ("'a%s€'::text", "text", "a%s€", None),
    ("'ab'::varchar(5)", "varchar(5)", "ab", None),
    ("'ab'::char(4)", "bpchar(4)", "ab  ", None),
    ("'ab'::char(1000)", "bpchar(1000)", "ab".ljust(1000), None),
    ("'ab'::lab.short", "varchar(5)", "ab", None),
    ("'a'::\"char\"", '"char"', "a", None),
    ("current_user", "name", "quorumsql_reader", None),
    ("'\\x00ff'::bytea", "bytea", b"\x00\xff", "00ff"),
    ("DATE '2025-06-30'", "date", dt.date(2025, 6, 30), "2025-06-30"),
    ("DATE 'infinity'", "date", "infinity", None),
    ("DATE '0044-03-15 BC'", "date", "0044-03-15 BC", None),
    ("DATE '10000-01-01'", "date", "10000-01-01", None),
    ("TIME '08:30:00.5'", "time", dt.time(8, 30, 0, 500_000), "08:30:00.500000"),
    ("TIME '24:00'", "time", "24:00:00", None),
    (
        "TIMETZ '08:30+02:30'",
        "timetz",
        dt.time(8, 30, tzinfo=dt.timezone(dt.timedelta(hours=2, minutes=30))),
        "08:30:00+02:30",
    ),
    ("TIMESTAMP '2025-06-30 08:30'", "timestamp", dt.datetime(2025, 6, 30, 8, 30),
     "2025-06-30T08:30:00"),
    ("TIMESTAMP '-infinity'", "timestamp", "-infinity", None),
    ("TIMESTAMPTZ '2025-06-30 08:30+02'", "timestamptz",
     dt.datetime(2025, 6, 30, 6, 30, tzinfo=dt.UTC), "2025-06-30T06:30:00+00:00"),
    ("TIMESTAMPTZ '0044-03-15 08:00 BC'", "timestamptz", "0044-03-15 08:00:00+00 BC", None),
    ("INTERVAL '1 year 2 mons -3 days 04:05:06.7'", "interval",
     Interval(14, -3, 14_706_700_000), "P1Y2M-3DT4H5M6.7S"),
    ("INTERVAL '-1 mon'", "interval", Interval(-1, 0, 0), "P-1M"),
    ("INTERVAL '30 days'", "interval", Interval(0, 30, 0), "P30D"),
    ("INTERVAL '-00:00:00.000001'", "interval", Interval(0, 0, -1), "PT-0.000001S"),
    ("INTERVAL '0'", "interval", Interval(0, 0, 0), "PT0S"),
    ("INTERVAL '178000000 years'", "interval", "178000000 years", None),
    ("INTERVAL 'infinity'", "interval", "infinity", None),
    ("ARRAY[1, NULL, 3]", "int4[]", [1, None, 3], None),
    ("ARRAY[[1.5, 2], [3, 4]]", "numeric[]",
     [[Decimal("1.5"), Decimal(2)], [Decimal(3), Decimal(4)]], [[1.5, 2.0], [3.0, 4.0]]),
    ("ARRAY['a,b', '\"q\"', NULL, '']", "text[]", ["a,b", '"q"', None, ""], None),
    ("ARRAY[DATE '2025-01-01', 'infinity']", "date[]", [dt.date(2025, 1, 1), "infinity"],
     ["2025-01-01", "infinity"]),
    ("ARRAY[INTERVAL '1 mon']", "interval[]", [Interval(1, 0, 0)], ["P1M"]),
    ("'{}'::integer[]", "int4[]", [], None),
    ("ARRAY[ROW(1, 'a')]", "record[]", ["(1,a)"], None),
    ("int4range(1, 5)", "int4range", "[1,5)", None),
    ("'[2025-01-01,)'::daterange", "daterange", "[2025-01-01,)", None),
    ("'{[1,3),[5,8)}'::int4multirange", "int4multirange", "{[1,3),[5,8)}", None),
    (
        '\'{"n": 1.12345678901234567890, "i": 12345678901234567890, "l": [null, true]}\'::jsonb',
        "jsonb",
        {"i": 12345678901234567890, "l": [None, True], "n": Decimal("1.12345678901234567890")},
        {"n": "1.12345678901234567890", "i": "12345678901234567890", "l": [None, True]},
    ),
    ("'{\"a\": 1}'::json", "json", {"a": 1}, None),
    ("'null'::jsonb", "jsonb", None, None),
    ("'\"\\ud83d\\ude00\"'::json", "json", "😀", None),
    ("'\"\\ud800\"'::json", "json", '"\\ud800"', None),
    ("'[1e9999999999999999999]'::json", "json", "[1e9999999999999999999]", None),
    (f"({DEEP})::jsonb", "jsonb", "[" * 200 + "]" * 200, None),
    ("('[' || repeat('9', 600) || ']')::jsonb", "jsonb", [int("9" * 600)], ["9" * 600]),
    ("'6d6f1b1e-0000-4000-8000-000000000001'::uuid", "uuid",
     UUID("6d6f1b1e-0000-4000-8000-000000000001"), "6d6f1b1e-0000-4000-8000-000000000001"),
    ("'10.0.0.1/8'::inet", "inet", "10.0.0.1/8", None),
    ("'10.0.0.1'::inet", "inet", "10.0.0.1", None),
    ("'10.0.0.0/8'::cidr", "cidr", "10.0.0.0/8", None),
    ("'08:00:2b:01:02:03'::macaddr", "macaddr", "08:00:2b:01:02:03", None),
    ("B'1010'", "bit", "1010", None),
    ("'101'::varbit", "varbit", "101", None),
    ("1234.5::money", "money", "$1,234.50", None),
    ("'so, so'::lab.mood", "mood", "so, so", None),
    ("ROW(1, 'a, b', NULL)", "record", '(1,"a, b",)', None),
    ("(1, 'x')::lab.pair", "pair", "(1,x)", None),
    ("ARRAY[(1, 'x')::lab.pair]", "pair[]", '{"(1,x)"}', None),
    ("(SELECT p FROM lab.people AS p WHERE id = 1)", "people", "(1,Miller,777)", None),
    ("'[1,2]'::public.vector", "public.vector", "[1,2]", None),
    ("'(1,2),(3,4)'::box", "box", "(3,4),(1,2)", None),
    ("'fat & rat'::tsquery", "tsquery", "'fat' & 'rat'", None),
    ("'$.a'::jsonpath", "jsonpath", '$."a"', None),
    ("'lab.people'::regclass", "regclass", "people", None),
    ("NULL", "text", None, None),
)  # fmt: skip


def query(sql: str) -> GuardedQuery:
    return trust("scratch", sql)


async def run(database: PostgresDatabase, sql: str) -> ResultSet:
    return expect(ResultSet, await database.execute(query(sql), 10))


@pytest.mark.parametrize(
    ("expression", "kind", "value", "as_json"),
    [pytest.param(*value, id=value[0]) for value in VALUES],
)
async def test_a_value_keeps_its_meaning(
    expression: str, kind: str, value: object, as_json: Any, open_database: Opener
) -> None:
    # Two limits: one under which most values come as they are, and one that makes them text first.
    for cell_bytes in (65_536, 1024):
        result = await run(open_database(cell_bytes=cell_bytes), f"SELECT {expression} AS v")
        ((given,),) = result.rows
        assert (result.types, result.cut) == ((kind,), ())
        # By repr: NaN is not equal to itself, and an interval is to one of other parts.
        assert repr(given) == repr(value)
        assert type(given) is type(value)
        written = json.loads(json.dumps(to_json_value(given), allow_nan=False))
        assert written == (value if as_json is None else as_json)


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
