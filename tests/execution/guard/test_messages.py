"""What a refusal says: what is not supported, in the database's words, and what to write."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from nl2sql.types import Violation
from tests.execution.expecting import expect
from tests.fakes import SHOP

_OWN = "one of your own can be added under databases.NAME.allowlist"


@pytest.mark.parametrize(
    ("dialect", "sql", "said"),
    [
        # What is no SQL is so by the database's own grammar, and what is SQL is never called wrong.
        ("postgres", "SELECT id FROM orders WHERE id <", "syntax error at end of input"),
        ("postgres", "SELECT id FORM orders o p", 'syntax error at or near "orders"'),
        ("sqlite", "SELECT id FROM orders WHERE id ==", "SQLite does not accept it: incomplete"),
        ("duckdb", "SELECT id FORM orders o p", "DuckDB's parser does not accept it: syntax error"),
        (
            "postgres",
            "SELECT substring(name SIMILAR 'a#\"b#\"' ESCAPE '#') FROM customers",
            "line 1, column 38 on ('a#\"b#\"'), though PostgreSQL may: write it in another way.",
        ),
        ("postgres", "EXPLAIN SELECT 1", "this is EXPLAIN"),
        ("postgres", "SELECT id FROM orders WHERE id = $1", "Write the value in the place of"),
        ("sqlite", "SELECT id FROM orders WHERE id = :id", "Write the value in the place of"),
        ("postgres", "SELECT id FROM orders FOR UPDATE", "Leave FOR UPDATE or FOR SHARE out"),
        ("postgres", "SELECT JSON_VALUE(status, '$.a') FROM orders", "JSON_VALUE, JSON_QUERY"),
        ("postgres", "SELECT json_arrayagg(id) FROM orders", "JSON_ARRAYAGG is not allowed"),
        ("postgres", "SELECT (c).name FROM customers AS c", "Write to_jsonb(value) ->> 'field'"),
        ("postgres", "SELECT id FROM orders WHERE status @@ (status || 'x')", "to_tsquery(…)"),
        ("postgres", "SELECT U&'\\0061'", "U& is not supported: write the letters themselves"),
        ("postgres", 'SELECT u&"st\\0061tus" FROM orders', "or E'\\u0061' for a text."),
        ("duckdb", "PIVOT orders ON status USING count(*) GROUP BY id", "count(*) FILTER (WHERE"),
        # DuckDB reads it, but its tree is too deep for Python.
        ("duckdb", f"SELECT {'1 + ' * 700}1, id::INT.b FROM orders", "though DuckDB may"),
        # Own functions: where they are allowed.
        ("postgres", "SELECT sales.margin(id) FROM orders", f"sales.margin is not allowed: {'%'}"),
        ("postgres", "SELECT * FROM sales.top(2)", "%"),
        ("sqlite", "SELECT spellfix1(id) FROM orders", "%"),
        ("duckdb", "SELECT margin(id) FROM orders", "%"),
        ("duckdb", "SELECT * FROM margins(2)", "%"),
    ],
)
def test_a_refusal_says_what_to_do(dialect: str, sql: str, said: str) -> None:
    access = open_access(replace(SHOP, dialect=dialect))
    message = expect(Violation, guard_query(sql, access)).message
    if "%" in said:
        assert _OWN in message
    assert said.partition("%")[0] in message, message
