"""What PostgreSQL's dialect of the guard reads is written as it was, or as what it means."""

from __future__ import annotations

import pytest

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from execution.postgres.lexemes import split_operators
from nl2sql.types import GuardedQuery, Violation
from tests.execution.expecting import expect
from tests.fakes import SHOP

# An expression over the customers → how it is written; empty where it stays as it is.
WRITTEN = {
    "E'a\\'b'": "'a''b'",
    "E'a\\x41'": "'aA'",
    "'it''s'\n 'b'\n\n'c'": "'it''sbc'",
    "E'a\\x41'\n'\\x42'": "'aAB'",
    "$$it's$$": "'it''s'",
    "$t$a$$b$t$": "'a$$b'",
    "U&'\\0041'": "'A'",
    "0x1F": "31",
    "1_000": "1000",
    "|/ 4": "",
    "||/ 8": "",
    "~ 5": "",
    "~ -1": "",
    "~ ~ 1": "",
    "- - 1": "- -1",
    "- @ (-5)": "- @ (-5)",
    "- |/ 4": "",
    "@ -5": "",
    "+id": "+ id",
    "- + id": "",
    "+ '5' < '10'": "",
    "json '[1, 2]'::text": "CAST(CAST('[1, 2]' AS JSON) AS TEXT)",
    "char 'abc'": "CAST('abc' AS BPCHAR)",
    "character 'abc'::text": "CAST(CAST('abc' AS BPCHAR) AS TEXT)",
    "char(2) 'abc'": "CAST('abc' AS CHAR(2))",
    "'abc'::char": "CAST('abc' AS CHAR)",
    "CAST('abc' AS char)": "CAST('abc' AS CHAR)",
    "char 'abc'::char": "CAST(CAST('abc' AS BPCHAR) AS CHAR)",
    "nchar 'abc'": "CAST('abc' AS BPCHAR)",
    "character varying 'abc'": "CAST('abc' AS VARCHAR)",
    "5 # 3": "",
    "name ~ 'a'": "",
    "name !~* 'a'": "",
    "name ILIKE 'a'": "",
    "name LIKE 'a!%' ESCAPE '!'": "",
    "'{}'::json -> 'a'": "CAST('{}' AS JSON) -> 'a'",
    "'{}'::json ->> 'a'": "CAST('{}' AS JSON) ->> 'a'",
    "'{}'::json #> '{a}'": "CAST('{}' AS JSON) #> '{a}'",
    "'{}'::json #>> '{a}'": "CAST('{}' AS JSON) #>> '{a}'",
    "'{}'::jsonb @> '{}'": "CAST('{}' AS JSONB) @> '{}'",
    "'{}'::jsonb ? 'a'": "CAST('{}' AS JSONB) ? 'a'",
    "'{}'::jsonb ?| ARRAY['a']": "CAST('{}' AS JSONB) ?| ARRAY['a']",
    "(ARRAY[1,2])[1]": "(ARRAY[1, 2])[1]",
    "(ARRAY(SELECT 1))[1]": "",
    "(ARRAY[1,2])[1:2]": "(ARRAY[1, 2])[1:2]",
    "id::text::int": "CAST(CAST(id AS TEXT) AS INT)",
    "CAST(id AS numeric(10,2))": "CAST(id AS DECIMAL(10, 2))",
    "extract(year FROM now())": "EXTRACT(YEAR FROM NOW())",
    "position('a' IN name)": "POSITION('a' IN name)",
    "substring(name FROM 1 FOR 2)": "SUBSTRING(name FROM 1 FOR 2)",
    "substring(name FROM 'a')": "SUBSTRING(name FROM 'a')",
    "overlay(name PLACING 'x' FROM 1)": "OVERLAY(name PLACING 'x' FROM 1)",
    "trim(BOTH 'x' FROM name)": "TRIM(BOTH 'x' FROM name)",
    "trim(name)": "TRIM(name)",
    "coalesce(name, 'x')": "COALESCE(name, 'x')",
    "greatest(1,2)": "GREATEST(1, 2)",
    "nullif(1,2)": "NULLIF(1, 2)",
    "date '2024-01-31'::text": "CAST(CAST('2024-01-31' AS DATE) AS TEXT)",
    "timestamp(3) with time zone '2024-01-31'::date": (
        "CAST(CAST('2024-01-31' AS TIMESTAMPTZ(3)) AS DATE)"
    ),
    "json '{}' -> 'a'": "CAST('{}' AS JSON) -> 'a'",
    "text 'a' || 'b'::text": "CAST('a' AS TEXT) || CAST('b' AS TEXT)",
    "now() - interval '1 day'": "NOW() - INTERVAL '1 day'",
    "CURRENT_TIME - INTERVAL '1 HOUR'": "",
    "interval '1' day": "INTERVAL '1' DAY",
    "interval '1.5' day": "INTERVAL '1.5' DAY",
    "interval '1 2:03' hour": "INTERVAL '1 2:03' HOUR",
    "interval '1' day + 2 * interval '1 hour'": "INTERVAL '1' DAY + 2 * INTERVAL '1 hour'",
    "interval '1 day' + '2020-01-01'::date": "INTERVAL '1 day' + CAST('2020-01-01' AS DATE)",
    "interval '1 day' + '2 hours'": "INTERVAL '1 day' + '2 hours'",
    "interval $$1 day$$": "INTERVAL '1 day'",
    "interval E'1 day'": "INTERVAL '1 day'",
    "interval U&'1 day'": "INTERVAL '1 day'",
    "interval '-3' hour": "INTERVAL '-3' HOUR",
    "interval '1-2' year to month": "INTERVAL '1-2' YEAR TO MONTH",
    "current_time(1)": "CURRENT_TIME(1)",
    "date_trunc('month', now())": "DATE_TRUNC('month', NOW())",
    "to_char(now(), 'YYYY')": "TO_CHAR(NOW(), 'YYYY')",
    "count(*) FILTER (WHERE id > 1)": "COUNT(*) FILTER(WHERE id > 1)",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY id)": (
        "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY id)"
    ),
    "string_agg(name, ',' ORDER BY id)": "STRING_AGG(name, ',' ORDER BY id)",
    "array_agg(DISTINCT id)": "ARRAY_AGG(DISTINCT id)",
    "current_date": "CURRENT_DATE",
    "localtimestamp": "LOCALTIMESTAMP",
    "pg_catalog.upper(name)": "UPPER(name)",
    "pg_catalog.lower(name)": "LOWER(name)",
    '"upper"(name)': "UPPER(name)",
    'name COLLATE "C"': "",
    "id BETWEEN SYMMETRIC 1 AND 2": "",
    "id IS DISTINCT FROM 1": "",
    "name SIMILAR TO 'a'": "",
    "now() AT TIME ZONE 'UTC'": "NOW() AT TIME ZONE 'UTC'",
    "(SELECT 1)": "",
    "make_date(2024,1,1)": "MAKE_DATE(2024, 1, 1)",
    "replace(name,'a','b')": "REPLACE(name, 'a', 'b')",
    "regexp_replace(name,'a','b','g')": "REGEXP_REPLACE(name, 'a', 'b', 'g')",
    "repeat(name,3)": "REPEAT(name, 3)",
    "lpad(name,3)": "LPAD(name, 3)",
    "rpad(name,3,'x')": "RPAD(name, 3, 'x')",
    "generate_series(1,3)": "GENERATE_SERIES(1, 3)",
    "row_number() OVER (PARTITION BY id ORDER BY name ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)": (
        "ROW_NUMBER() OVER (PARTITION BY id ORDER BY name ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
    ),
    "NOT id = 1": "",
    "id = ANY(ARRAY[1])": "",
    "id <> ALL(ARRAY[1])": "",
    "id % 2": "",
    "id / 2": "",
    "- id": "-id",
    "name || 'x'": "",
    "TRUE": "",
    "NULL": "",
    "1.5e3": "",
    ".5": "0.5",
    "ARRAY[]::int[]": "CAST(ARRAY[] AS INT[])",
    "ROW(1,2)": "ROW(1, 2)",
    "num_nonnulls(VARIADIC ARRAY[1])": "NUM_NONNULLS(VARIADIC ARRAY[1])",
    "name ^@ 'a'": "",
    "'{}'::json #>> '{a}' IS NULL": "CAST('{}' AS JSON) #>> '{a}' IS NULL",
    "0o17": "15",
    "name <=> name": "",
    "name <#> name <-> name <+> name": "",
    "'a'<->-1": "'a' <-> -1",
    "id*-1": "id * -1",
    "name !~ 'a' || 'b'": "",
    "x'1F'": "X'1F'",
    "b'01'": "B'01'",
    "U&'d!0061' UESCAPE '!'": "'da'",
    'U&"n\\0061me"': '"name"',
    "inet '10.0.0.1' <<= '10.0.0.0/8'": "CAST('10.0.0.1' AS INET) <<= '10.0.0.0/8'",
    "box '((0,0),(3,3))' @> point '(1,2)'": (
        "CAST('((0,0),(3,3))' AS box) @> CAST('(1,2)' AS POINT)"
    ),
    "id OPERATOR(pg_catalog.+) 2 * 3": "((id) + (2 * 3))",
    "now() AT LOCAL": "NOW() AT LOCAL",
    "coalesce('{}'::json -> 'a', '1')": "COALESCE(CAST('{}' AS JSON) -> 'a', '1')",
    "array_agg(name -> 'k')": "ARRAY_AGG(name -> 'k')",
    "to_tsvector(name) @@ to_tsquery('a')": "TO_TSVECTOR(name) @@ TO_TSQUERY('a')",
    "0b11": "3",
    "regexp_replace(name, 'a', 'b', 1, 2, 'g')": "REGEXP_REPLACE(name, 'a', 'b', 1, 2, 'g')",
    "generate_series(1, 9, 2)": "GENERATE_SERIES(1, 9, 2)",
    "rpad(name, 3)": "RPAD(name, 3)",
    "@ (id - 5)": "",
    "2 ^ 3": "",
    "NOT id = 1 AND NOT id = 2": "",
    "ARRAY[id] || ARRAY[2]": "",
    "-id ^ 2": "",
    "'{}'::json -> name": "CAST('{}' AS JSON) -> name",
    "'{}'::json ->> name": "CAST('{}' AS JSON) ->> name",
    "'{}'::json -> 'a' ->> 'b'": "CAST('{}' AS JSON) -> 'a' ->> 'b'",
    "'{}'::json -> '$.a'": "CAST('{}' AS JSON) -> '$.a'",
    "'{}'::json ->> '$.a'": "CAST('{}' AS JSON) ->> '$.a'",
    "('{}'::json -> 'a') -> -1": "(CAST('{}' AS JSON) -> 'a') -> -1",
    "COUNT(DISTINCT id, name)": "",
    "|/ id": "",
    "count(DISTINCT (id, name))": "COUNT(DISTINCT (id, name))",
    "pg_catalog.repeat(name, 2)": "REPEAT(name, 2)",
    "pg_catalog.\"replace\"(name, 'a', 'b')": "REPLACE(name, 'a', 'b')",
}


@pytest.mark.parametrize(("written", "expected"), WRITTEN.items(), ids=WRITTEN)
def test_an_expression_is_written(written: str, expected: str) -> None:
    verdict = guard_query(f"SELECT {written} FROM customers", open_access(SHOP))
    assert isinstance(verdict, GuardedQuery), verdict
    text = verdict.sql.removeprefix("SELECT ").partition(' FROM "sales"')[0]
    assert text == (expected or written)


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("$1", "node_not_allowed"),
        ("name == 'a'", "operator_not_allowed"),
        ("2 ** 3", "operator_not_allowed"),
        ("name <&> 'a'", "operator_not_allowed"),
        ("id OPERATOR(sales.+) 1", "unparsable"),
        # A cast that fills up to ten million bytes.
        ("'a'::char(10000000) || 'a'::char(10000000)", "too_much_text"),
        ("B'1'::bit(83886080)", "too_much_text"),
        ("1_000_", "unparsable"),
        ("interval(0) '1.6 seconds'", "unparsable"),
        ("interval '1.26' second(1)", "unparsable"),
        ("interval '1' day(3)", "unparsable"),
        ("interval", "unknown_column"),
        ("interval + 2", "unknown_column"),
        ("interval - 1", "unknown_column"),
        ("interval[1]", "unknown_column"),
        ("interval - localtime", "unknown_column"),
        ("(interval '1 day' '2 hours')::text", "unparsable"),
        ("0o19", "unparsable"),
        (r"E'\u00'", "unparsable"),
        (r"U&'\004'", "unparsable"),
        # No text in UTF-8.
        (r"E'\xff'", "unparsable"),
        (r"E'\ud800'", "unparsable"),
        ("(name ^@)", "unparsable"),
        # A subscript of what is no name wants parentheses.
        ("ARRAY[1,2][1]", "unparsable"),
        ("ARRAY(SELECT 1)[1]", "unparsable"),
    ],
)
def test_what_is_not_read(written: str, code: str) -> None:
    verdict = expect(Violation, guard_query(f"SELECT {written} FROM customers", open_access(SHOP)))
    assert verdict.code == code, verdict


def test_a_text_may_end_where_an_interval_could_begin() -> None:
    verdict = expect(Violation, guard_query("SELECT interval", open_access(SHOP)))
    assert verdict.code == "unknown_column", verdict


@pytest.mark.parametrize("sql", ["SELECT 1", "SELECT (1)", "SELECT abs(1)", "SELECT a[1] FROM a"])
def test_a_text_may_end_where_a_subscript_could_begin(sql: str) -> None:
    expect(GuardedQuery, guard_query(f"WITH a AS (SELECT ARRAY[1] AS a) {sql}", open_access(SHOP)))


@pytest.mark.parametrize(
    "written", ["interval + 2", "interval - 1", "-interval", "interval", "x.interval * 2"]
)
def test_a_column_may_be_called_interval(written: str) -> None:
    sql = f"SELECT {written} AS y FROM (SELECT 1 AS interval) AS x"
    assert expect(GuardedQuery, guard_query(sql, open_access(SHOP))).sql == sql


def test_a_long_run_of_signs_is_split_at_once() -> None:
    """The time grew with the cube of its length, in the thread that reads all texts."""
    assert split_operators("+-" * 9000) == ["+", "-"] * 9000
    assert split_operators("<" * 9000 + "-") == ["<" * 9000, "-"]


@pytest.mark.parametrize(
    "sql",
    [
        # It reads the catalog: a number becomes the name of a type, so of any table.
        "SELECT (ARRAY[pg_typeof(1), 16785])[2]::text",
        # It cannot be cancelled.
        "SELECT ts_rank('a:1'::tsvector, 'a'::tsquery)",
        "SELECT version()",
        # A path that is a column is not measured, so no text may become one before.
        "SELECT j @@ p FROM (SELECT jsonb '[[1]]' AS j, jsonpath '$.** == 2' AS p) AS t",
    ],
)
def test_functions_and_types_that_reach_too_far(sql: str) -> None:
    verdict = guard_query(sql, open_access(SHOP))
    assert expect(Violation, verdict).code in ("function_not_allowed", "type_not_allowed")


def test_letters_that_become_others_in_lower_case_are_no_error() -> None:
    sql = "SELECT 'vector' AS a FROM customers AS chec\u212a"
    assert isinstance(guard_query(sql, open_access(SHOP)), GuardedQuery)
