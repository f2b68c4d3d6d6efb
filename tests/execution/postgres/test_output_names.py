"""What PostgreSQL calls outputs without AS; ``test_names.py`` asks PostgreSQL itself."""

from __future__ import annotations

import postgast
import pytest

from execution.postgres.trees import name_output

NAMES = {
    "1": "?column?",
    "a": "a",
    "t.a": "a",
    "s.t.a": "a",
    "count(*)": "count",
    "pg_catalog.lower('a')": "lower",
    "sum(a) OVER ()": "sum",
    "nullif(a, b)": "nullif",
    # A cast names only what bears no good name.
    "nullif(a, b)::text": "nullif",
    "greatest(a, b)::text": "greatest",
    "coalesce(a, b)::text": "coalesce",
    "current_date::text": "current_date",
    "EXISTS (SELECT 1)::text": "exists",
    "ARRAY(SELECT a)::text": "array",
    "(SELECT a)::text": "a",
    "(SELECT a AS b)::text": "b",
    "(SELECT 1)::text": "?column?",
    "(VALUES (1))::text": "column1",
    "(SELECT * FROM t)::text": "\0",
    "(SELECT FROM t)::text": "\0",
    "(a).b::text": "b",
    "(a = ANY (SELECT 1))::text": "text",
    "CASE WHEN a THEN b END::text": "text",
    "a = b": "?column?",
    "a + 1": "?column?",
    "NOT a": "?column?",
    "a IS NULL": "?column?",
    "a::text": "a",
    "1::numeric": "numeric",
    "(1 + 1)::pg_catalog.int4": "int4",
    "lower('a')::text": "lower",
    'a COLLATE "C"': "a",
    "('a' || 'b') COLLATE \"C\"": "?column?",
    "CASE WHEN a THEN 1 END": "case",
    "CASE WHEN a THEN b ELSE c END": "c",
    "CASE WHEN a THEN b ELSE 1 END": "case",
    "CASE WHEN a THEN b ELSE 1::text END": "case",
    "CASE WHEN a THEN b ELSE count(*) END": "count",
    "greatest(a, b)": "greatest",
    "least(a, b)": "least",
    "coalesce(a, b)": "coalesce",
    "current_date": "current_date",
    "current_timestamp": "current_timestamp",
    "localtimestamp(3)": "localtimestamp",
    "EXISTS (SELECT 1)": "exists",
    "ARRAY(SELECT a)": "array",
    "(SELECT a)": "a",
    "(SELECT a AS b)": "b",
    "(SELECT 1)": "?column?",
    "(SELECT a UNION SELECT b)": "a",
    "(SELECT a AS x UNION SELECT b UNION SELECT c)": "x",
    "(VALUES (1, 2))": "column1",
    "(SELECT * FROM t)": "\0",
    "(SELECT t.* FROM t)": "\0",
    "(SELECT FROM t)": "\0",
    "(SELECT FROM t UNION SELECT FROM t)": "\0",
    "EXISTS (SELECT FROM t)": "exists",
    "a IN (SELECT 1)": "?column?",
    "a = ANY (SELECT 1)": "?column?",
    "ARRAY[1]": "array",
    "ROW(1, 2)": "row",
    "GROUPING(a)": "grouping",
    "a[1]": "a",
    "(ARRAY[1])[1]": "array",
    "(1 + 1)[1]": "?column?",
    "(a).b": "b",
    "(a).b[1]": "b",
    "(row(1)).f1": "f1",
}


@pytest.mark.parametrize(("expression", "name"), NAMES.items(), ids=NAMES)
def test_the_name_of_an_output(expression: str, name: str) -> None:
    statement = postgast.parse(f"SELECT {expression}").stmts[0].stmt.select_stmt
    assert name_output(statement.target_list[0].res_target.val) == name
