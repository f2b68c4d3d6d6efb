"""What DuckDB's dialect of the guard reads is written as it was, or as the call that it means."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot.errors import ParseError

from execution.duckdb.dialect import GuardedDuckdb
from execution.guard.guard import guard_query
from execution.policies.access import open_access
from nl2sql.types import GuardedQuery, Violation
from tests.execution.expecting import expect
from tests.fakes import SHOP

ACCESS = open_access(replace(SHOP, dialect="duckdb"))

WRITTEN = {
    "DATE '2024-01-31'::VARCHAR": "CAST(CAST('2024-01-31' AS DATE) AS TEXT)",
    "TIME WITH TIME ZONE '10:30:00+00'::VARCHAR": ("CAST(CAST('10:30:00+00' AS TIMETZ) AS TEXT)"),
    "INTERVAL '1 day' + 2 * INTERVAL '1 hour'": "INTERVAL '1' DAY + 2 * INTERVAL '1' HOUR",
    "INTERVAL E'1 day'": "INTERVAL '1' DAY",
    "INTERVAL 5 DAY + 2 * INTERVAL (id) HOUR": "INTERVAL '5' DAY + 2 * INTERVAL (id) HOUR",
    "INTERVAL '1 day' + '2020-01-01'::DATE": "INTERVAL '1' DAY + CAST('2020-01-01' AS DATE)",
    "JSON '[1, 2]'::VARCHAR": "CAST(CAST('[1, 2]' AS JSON) AS TEXT)",
    "1 NOT BETWEEN 1e1 AND 1e1 <> 2.5": "(NOT 1 BETWEEN 1e1 AND 1e1) <> 2.5",
    "id NOT IN (1, 2) < TRUE": "(NOT id IN (1, 2)) < TRUE",
    "NOT id IN (1, 2)": "",
    ".5::VARCHAR": "CAST(.5 AS TEXT)",
    "-.5": "",
    "0.5": "",
    "id != 3": "id <> 3",
    "'3!'": "",
    "+1 -> 0": "+ 1 -> 0",
    "- + id": "",
    "~ -1": "",
    "~ ~ 1": "~ ~1",
    "LPAD(name, 5, '*')": "",
    "RPAD(name, 5, '*')": "",
    "REGEXP_REPLACE(name, 'a', 'b')": "",
    "REGEXP_REPLACE(name, 'a', 'b', 'g')": "",
    "REPEAT(name, 3)": "",
    "REPLACE(name, 'a', 'b')": "",
    "TRIM(name)": "",
    "TRIM(name, 'x')": "",
    "TRIM(FROM name)": "TRIM(name)",
    "TRIM('x' FROM name)": "TRIM(name, 'x')",
    "TRIM(BOTH 'x' FROM name)": "TRIM(name, 'x')",
    "TRIM(BOTH FROM name)": "TRIM(name)",
    "TRIM(LEADING 'x' FROM name)": "LTRIM(name, 'x')",
    "TRIM(TRAILING FROM name)": "RTRIM(name)",
    "SUBSTRING(name, 2, 3)": "",
    "SUBSTRING(name FROM 2)": "SUBSTRING(name, 2)",
    "SUBSTRING(name FROM 2 FOR 3)": "SUBSTRING(name, 2, 3)",
    "SUBSTRING(name FOR 3)": "SUBSTRING(name, 1, 3)",
    "POSITION('a' IN name)": "STRPOS(name, 'a')",
    "EXTRACT(year FROM current_date)": "DATE_PART('YEAR', CURRENT_DATE)",
    "EXTRACT('month' FROM current_date)": "DATE_PART('month', CURRENT_DATE)",
    "[1, 2][1]": "([1, 2])[1]",
    "LIST(id)[1]": "(LIST(id))[1]",
    "TRIM(leading 'x' FROM name)": "LTRIM(name, 'x')",
    "COUNT(DISTINCT (id, name))": "",
    "COUNT(DISTINCT id, name)": "",
    "E'a\\x41'": "'aA'",
    "5 & 3": "",
    "5 | 3": "",
    "1 << 2": "",
    "8 >> 1": "",
    "7 % 3": "",
    "2 ** 3": "",
    "CASE WHEN id > 1 THEN 2 END": "",
    "CAST(name AS INT)": "",
    "CAST(name AS VARCHAR)": "CAST(name AS TEXT)",
    "TRY_CAST(name AS VARCHAR)": "TRY_CAST(name AS TEXT)",
    "$$it's$$": "'it''s'",
    "$t$a$$b$t$": "'a$$b'",
    'EXTRACT("year" FROM current_date)': "DATE_PART('YEAR', CURRENT_DATE)",
    "TRY_CAST(name AS INT)": "",
    "CURRENT_TIMESTAMP": "",
    "COUNT(DISTINCT id)": "",
    "FIRST_VALUE(name IGNORE NULLS) OVER (ORDER BY id)": "",
    "FIRST_VALUE(name RESPECT NULLS) OVER (ORDER BY id)": "",
    "MODE() WITHIN GROUP (ORDER BY id)": "",
    "CAST(name AS JSON) -> 'a.b'": "",
    "CAST(name AS JSON) ->> 'a.b'": "",
}


@pytest.mark.parametrize(("written", "expected"), WRITTEN.items(), ids=WRITTEN)
def test_an_expression_is_written(written: str, expected: str) -> None:
    output = f"{written} AS x"
    verdict = expect(GuardedQuery, guard_query(f"SELECT {output} FROM customers", ACCESS))
    text = verdict.sql.removeprefix("SELECT ").partition(' FROM "sales"')[0]
    assert text.removesuffix(" AS x") == (expected or written)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("RANGE(5)", "RANGE(0, 5)"),
        ("RANGE(1, 5)", "RANGE(1, 5)"),
        ("RANGE(1, 5, 2)", "RANGE(1, 5, 2)"),
        ("GENERATE_SERIES(5)", "GENERATE_SERIES(0, 5)"),
        ("GENERATE_SERIES(1, 5)", "GENERATE_SERIES(1, 5)"),
    ],
)
def test_a_generator_is_written(written: str, expected: str) -> None:
    verdict = expect(GuardedQuery, guard_query(f"SELECT 1 AS x FROM {written} AS g", ACCESS))
    assert verdict.sql == f"SELECT 1 AS x FROM {expected} AS g"


@pytest.mark.parametrize(
    "written",
    [
        "EXTRACT(year current_date)",
        "EXTRACT()",
        "E'a' 'b'",
        r"E'\xff'",
        r"E'\000'",
        "POSITION('a' name)",
        "1 -~ 2",
        "id::text.lower()",
        "id !=-1",
        "@ id",
        "ABS(id",
        "3! ISNULL",
        "'1'! BETWEEN 3 AND '1'",
        "! TRUE",
        "INTERVAL '1 day' '2 hours'",
        "INTERVAL id DAY",
        "INTERVAL (1, 2) DAY",
        "1\u200b+ 2",
        "a\u2060b",
        "\ufeffname",
    ],
)
def test_what_is_read_otherwise_is_not_read(written: str) -> None:
    verdict = expect(Violation, guard_query(f"SELECT {written} FROM customers", ACCESS))
    assert verdict.code == "unparsable"


@pytest.mark.parametrize("written", [r"E'\xff'", r"E'\000'"])
def test_a_text_that_duckdb_does_not_read_is_an_error_of_the_parsers(written: str) -> None:
    # Not of Python's: sqlglot goes back and tries the next way after this one alone.
    with pytest.raises(ParseError):
        GuardedDuckdb().parse(f"SELECT {written}")


def test_a_sign_without_width_may_stand_in_quotes() -> None:
    verdict = expect(GuardedQuery, guard_query("SELECT 'a\u200bb' FROM customers", ACCESS))
    assert "a\u200bb" in verdict.sql


@pytest.mark.parametrize("space", "\u00a0\u2003\u3000")
def test_a_space_of_unicodes_is_one(space: str) -> None:
    assert expect(GuardedQuery, guard_query(f"SELECT{space}1 AS x", ACCESS)).sql == "SELECT 1 AS x"


@pytest.mark.parametrize("sql", ["SELECT 1", "SELECT (1)", "SELECT abs(1)", "SELECT a[1] FROM a"])
def test_a_text_may_end_where_a_subscript_could_begin(sql: str) -> None:
    expect(GuardedQuery, guard_query(f"WITH a AS (SELECT ARRAY[1] AS a) {sql}", ACCESS))


@pytest.mark.parametrize("written", ["interval + 2", "interval - 1", "interval[1]", "x.interval"])
def test_a_column_may_be_called_interval(written: str) -> None:
    sql = f"SELECT {written} AS y FROM (SELECT 1 AS interval) AS x"
    assert expect(GuardedQuery, guard_query(sql, ACCESS)).sql == sql


def test_a_text_may_end_with_a_column_called_interval() -> None:
    sql = "SELECT x.interval FROM (SELECT 1 AS interval) AS x ORDER BY interval"
    assert expect(GuardedQuery, guard_query(sql, ACCESS)).sql == sql
