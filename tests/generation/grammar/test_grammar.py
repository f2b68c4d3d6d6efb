"""What the grammar admits, judged by xgrammar's own compiler, and that names in it are exact."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from generation.grammar import build_grammar
from nl2sql.catalog import Catalog
from nl2sql.types import Plan, SchemaContext
from tests.fakes import SHOP, build_context, build_table

if TYPE_CHECKING:
    import xgrammar

pytestmark = pytest.mark.vllm

VOCABULARY = [bytes([number]) for number in range(256)] + [b"</s>"]


@cache
def compile_grammar(text: str) -> xgrammar.CompiledGrammar:
    import xgrammar

    tokens = xgrammar.TokenizerInfo(VOCABULARY, stop_token_ids=[256])
    return xgrammar.GrammarCompiler(tokens, max_threads=1).compile_grammar(text)


def admits(context: SchemaContext, sql: str, plan: Plan | None = None) -> bool:
    """Whether the query can be written, and may end there."""
    import xgrammar

    matcher = xgrammar.GrammarMatcher(compile_grammar(build_grammar(context, plan)))
    return bool(matcher.accept_string(sql)) and bool(matcher.accept_token(256))


CONTEXT = build_context()
CONTEXTS = {
    "postgres": CONTEXT,
    "sqlite": replace(CONTEXT, dialect="sqlite"),
    "duckdb": replace(CONTEXT, dialect="duckdb"),
}


@pytest.mark.parametrize("dialect", CONTEXTS)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM orders",
        "SELECT COUNT(*) FROM orders;\n```",
        "SELECT name, country FROM customers WHERE country = 'Germany' ORDER BY name DESC LIMIT 3",
        'SELECT DISTINCT "Loyalty Tier" FROM customers',
        "SELECT status, SUM(total) AS total_sold FROM orders GROUP BY status"
        " HAVING SUM(total) > 100.5 ORDER BY total_sold DESC",
        "SELECT\n  T1.name,\n  COUNT(*)\nFROM customers AS T1\n"
        "JOIN orders AS T2 ON T1.id = T2.customer_id\nGROUP BY T1.name",
        "SELECT customers.name FROM customers JOIN orders ON orders.customer_id = customers.id",
        "SELECT ol.quantity FROM orders o JOIN order_lines ol ON ol.order_id = o.id",
        "SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)",
        "SELECT name FROM products WHERE price = (SELECT MAX(price) FROM products)",
        "SELECT reason FROM returns AS T1 JOIN order_lines AS T2"
        " ON T1.order_id = T2.order_id AND T1.line_no = T2.line_no",
        "SELECT T1.name FROM employees AS T1 JOIN employees AS T2 ON T1.manager_id = T2.id",
        "SELECT name FROM customers UNION SELECT name FROM employees",
        "SELECT CASE WHEN total > 100 THEN 'big' ELSE 'small' END FROM orders",
        "SELECT ROUND(AVG(total) * 100.0 / 3, 2) FROM orders WHERE status IN ('open', 'O''Neil')",
        "SELECT name FROM customers WHERE name LIKE '%a%' AND (country IS NULL OR id < 9)",
        "SELECT name FROM customers WHERE id BETWEEN 1 AND 9 OR NOT country = 'DE'",
    ],
)
def test_what_is_admitted(dialect: str, sql: str) -> None:
    assert admits(CONTEXTS[dialect], sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT colour FROM customers",
        "SELECT name FROM clients",
        "SELECT NAME FROM customers",
        # Of another table than the one that is selected from.
        "SELECT total FROM customers",
        "SELECT name FROM customers WHERE status = 'open'",
        "SELECT T1.total FROM customers AS T1 JOIN orders AS T2 ON T1.id = T2.customer_id",
        # Not on a key.
        "SELECT T1.name FROM customers AS T1 JOIN orders AS T2 ON T1.id = T2.seller_id",
        "SELECT name FROM customers ORDER BY colour",
        "SELECT name FROM customers, orders",
        "SELECT name FROM customers; DROP TABLE customers",
        "DELETE FROM customers",
        "SELECT pg_sleep(9) FROM customers",
        "SELECT name FROM customers -- a comment",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "SELECT name FROM customers WHERE",
        "Sure! SELECT name FROM customers",
    ],
)
def test_what_is_not_admitted(sql: str) -> None:
    assert not admits(CONTEXT, sql)


def test_each_dialect_has_functions_of_its_own() -> None:
    year = "SELECT EXTRACT(YEAR FROM placed_at) FROM orders WHERE placed_at > DATE '2024-01-01'"
    assert admits(CONTEXTS["postgres"], year)
    assert not admits(CONTEXTS["sqlite"], year)
    assert admits(CONTEXTS["sqlite"], "SELECT strftime('%Y', placed_at) FROM orders")
    assert not admits(CONTEXTS["postgres"], "SELECT strftime('%Y', placed_at) FROM orders")


def test_a_plan_narrows_the_columns() -> None:
    plan = Plan(columns=(("sales.customers", ("id", "name")),))
    assert admits(CONTEXT, "SELECT name FROM customers", plan)
    assert not admits(CONTEXT, "SELECT country FROM customers", plan)
    assert admits(CONTEXT, "SELECT status FROM orders", plan)


def test_a_table_without_a_key_is_joined_on_any_columns() -> None:
    tables = (build_table("s.a", "x integer"), build_table("s.b", "y integer"))
    apart = Catalog("shop", tables, (), search_path=("s",))
    sql = "SELECT T1.x FROM a AS T1 JOIN b AS T2 ON T1.x = T2.y"
    assert admits(build_context(apart), sql)


def test_odd_names_do_not_break_the_grammar() -> None:
    odd = build_table('s.Odd "T"\n', 'a"\\\n integer', "Größe integer")
    context = build_context(Catalog("shop", (odd,), ()))
    assert admits(context, f'SELECT "Größe", "a""\\\n" FROM {context.names[0]}')


def test_an_end_is_near_after_every_clause() -> None:
    long = "SELECT name FROM customers WHERE " + " AND ".join(["id = 1"] * 12)
    assert not admits(CONTEXT, long)
    assert not admits(CONTEXT, f"SELECT name FROM customers WHERE name = '{'ab ' * 40}'")


def test_the_grammar_is_the_same_for_every_question_on_a_schema() -> None:
    other = replace(CONTEXT, examples=(), values=(), version="v2")
    assert build_grammar(CONTEXT) == build_grammar(other)


def test_all_tables_of_the_shop_are_known() -> None:
    assert all(
        admits(CONTEXT, f"SELECT * FROM {CONTEXT.names[number]}")
        for number in range(len(SHOP.tables))
    )
