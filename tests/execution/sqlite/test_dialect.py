"""What SQLite's dialect of the guard reads is written as it was; casts are affinities."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from nl2sql.types import GuardedQuery, Violation
from tests.execution.expecting import expect
from tests.fakes import SHOP

ACCESS = open_access(replace(SHOP, dialect="sqlite"))

# The rules of sqlite.org/datatype3.html, 3.1, with its own examples.
AFFINITIES = {
    "INTEGER": "INT INTEGER TINYINT BIGINT INT2 POINT CHARINT",
    "TEXT": "VARCHAR(255) NCHAR(55) CLOB TEXT CHARACTER",
    "BLOB": "BLOB",
    "REAL": "REAL DOUBLE FLOAT",
    "NUMERIC": "NUMERIC DECIMAL(10,5) BOOLEAN DATE STRING XYZ",
}


@pytest.mark.parametrize(
    ("kind", "affinity"),
    [(kind, affinity) for affinity, kinds in AFFINITIES.items() for kind in kinds.split()]
    + [
        ("UNSIGNED BIG INT", "INTEGER"),
        ("DOUBLE PRECISION", "REAL"),
        ("FLOATING POINT", "INTEGER"),
    ],
)
def test_a_cast_is_written_as_its_affinity(kind: str, affinity: str) -> None:
    verdict = expect(GuardedQuery, guard_query(f"SELECT CAST(id AS {kind}) FROM customers", ACCESS))
    assert f"CAST(id AS {affinity})" in verdict.sql


WRITTEN = {
    "name -> '$.a'": "",
    "name ->> 'a'": "",
    "`name`": "name",
    "[name]": "name",
    'customers."NAME"': "customers.NAME",
    "id AS `Name`": "id AS Name",
    "id AS `values`": "id AS `values`",
    '"name"': "name",
    '"nothing"': "'nothing'",
    '"it\'s"': "'it''s'",
    "CASE WHEN id THEN 2 END": "",
    "CURRENT_DATE": "",
    "CURRENT_TIME": "",
    "CURRENT_TIMESTAMP": "",
    "name || 'x'": "",
    "id IS 1": "",
    "name LIKE 'a%'": "",
    "+id = '2'": "+ id = '2'",
    "3 IS NOT DISTINCT FROM +TRUE": "3 IS + TRUE",
    "- + - id": "- + -id",
    "~ ~ id": "~ ~id",
}


@pytest.mark.parametrize(("written", "expected"), WRITTEN.items(), ids=WRITTEN)
def test_an_expression_is_written(written: str, expected: str) -> None:
    output = written if " AS " in written else f"{written} AS x"
    verdict = expect(GuardedQuery, guard_query(f"SELECT {output} FROM customers", ACCESS))
    text = verdict.sql.removeprefix("SELECT ").partition(" FROM sales.")[0]
    assert text.removesuffix(" AS x") == (expected or written)


def test_a_comma_stays_one() -> None:
    verdict = guard_query("SELECT 1 AS x FROM customers, orders CROSS JOIN products", ACCESS)
    assert isinstance(verdict, GuardedQuery), verdict
    assert verdict.sql == (
        "SELECT 1 AS x FROM sales.customers AS customers, sales.orders AS orders "
        "CROSS JOIN stock.products AS products"
    )


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT CAST(id, INT) FROM customers", "unparsable"),
        ("SELECT id FROM customers WHERE id IN orders", "unknown_column"),
        ("SELECT DISTINCT ON (id) id FROM customers", "node_not_allowed"),
        ("SELECT a FROM (SELECT 1) AS t(a)", "node_not_allowed"),
        ("SELECT id::text FROM customers", "type_not_allowed"),
        ("SELECT DATE '2024-01-01'", "type_not_allowed"),
        ("SELECT CAST(id AS decimal(4) FROM customers", "unparsable"),
        ("SELECT id, FROM customers", "unparsable"),
        ("SELECT c.id FROM customers SEMI JOIN orders AS c ON c.id > 1", "node_not_allowed"),
        ("SELECT c.id FROM customers ANTI JOIN orders AS c ON c.id > 1", "node_not_allowed"),
        ("FROM customers", "unparsable"),
        ("SELECT id FROM customers OFFSET 2", "unparsable"),
        ("SELECT id FROM customers UNION DISTINCT SELECT id FROM customers", "unparsable"),
        ("SELECT id FROM customers WHERE id IN (1, )", "unparsable"),
        ("SELECT id FROM customers ORDER BY id,", "unparsable"),
        ("SELECT CAST(id AS int FROM customers", "unparsable"),
        ("SELECT name REGEXP 'a' FROM customers", "unparsable"),
        ("SELECT name LIKE id = 1 ESCAPE 'x' FROM customers", "unparsable"),
        ("SELECT id < < 2 FROM customers", "unparsable"),
        ("SELECT id BETWEEN 1 OR 2 FROM customers", "unparsable"),
        ("SELECT 1_000 FROM customers", "unparsable"),
        ("SELECT 1a FROM customers", "unparsable"),
        ("SELECT 0x1Fg FROM customers", "unknown_column"),
        ("SELECT 0xFFFFFFFFFFFFFFFF FROM customers", "unparsable"),
    ],
)
def test_what_is_refused(sql: str, code: str) -> None:
    assert expect(Violation, guard_query(sql, ACCESS)).code == code


# The precedence of SQLite's parse.y; ``tests/oracle/meaning`` compares results of many more.
GROUPED = {
    "id = 1 = 2 IN (1)": "((id = 1) = 2) IN (1)",
    "id BETWEEN 1 AND 2 = 1": "(id BETWEEN 1 AND 2) = 1",
    "1 = id BETWEEN 1 AND 2": "(1 = id) BETWEEN 1 AND 2",
    "id = 1 BETWEEN 2 = 2 AND 3 < 4": "(id = 1) BETWEEN (2 = 2) AND (3 < 4)",
    "name LIKE 'a' ESCAPE 'x' = 1": "(name LIKE 'a' ESCAPE 'x') = 1",
    "name LIKE 'a' || 'b' ESCAPE lower('X') || ''": "",
    "name GLOB 'a' IS 1": "(name GLOB 'a') IS 1",
    "id IN (1) < 2": "(id IN (1)) < 2",
    "id IN (1) + 2": "(id IN (1)) + 2",
    "id ISNULL < 2": "(id IS NULL) < 2",
    "id < 2 IN (1)": "(id < 2) IN (1)",
    "id + NOT id = 1": "id + (NOT id = 1)",
    "NOT id = 1 IN (2)": "NOT (id = 1) IN (2)",
    "id = 1 + 2 AND NOT name LIKE 'a' OR id = 2": "",
    "id << 1 + 2 & 3 || 'a' * 2": "",
    "name || 'a' COLLATE nocase": "",
}


@pytest.mark.parametrize(("written", "expected"), GROUPED.items(), ids=GROUPED)
def test_operators_bind_as_in_sqlite(written: str, expected: str) -> None:
    sql = f"SELECT id FROM customers ORDER BY {written}"
    text = expect(GuardedQuery, guard_query(sql, ACCESS)).sql.partition(" ORDER BY ")[2]
    assert text.lower() == (expected or written).lower()


@pytest.mark.parametrize(
    ("written", "expected"), [("0x1F", "31"), ("x'0aFF'", "x'0aFF'"), ("X''", "x''")]
)
def test_a_literal_keeps_its_value(written: str, expected: str) -> None:
    verdict = expect(GuardedQuery, guard_query(f"SELECT {written} AS x", ACCESS))
    assert verdict.sql == f"SELECT {expected} AS x"
