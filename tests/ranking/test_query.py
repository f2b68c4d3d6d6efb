"""Which column of which table a name of a candidate means."""

from __future__ import annotations

import pytest
from sqlglot import exp

from ranking.lint import lint_query
from ranking.query import Query, read_candidate, read_query
from tests.fakes import SHOP, build_context


def read(sql: str) -> Query:
    """The query over SHOP."""
    query = read_query(sql, "postgres", SHOP.tables, SHOP.foreign_keys)
    assert query is not None
    return query


def resolve(sql: str) -> list[str]:
    """What every column means, in the order of the text; ``?`` is unknown, ``^`` an outer one."""
    query = read(sql)
    uses = [query.resolve(column) for column in query.tree.find_all(exp.Column, bfs=False)]
    return [f"{'^' if use.outer else ''}{use.name}" if use else "?" for use in uses]


@pytest.mark.parametrize(
    ("sql", "means"),
    [
        ("SELECT total FROM orders", ["sales.orders.total"]),
        ("SELECT Total FROM ORDERS", ["sales.orders.total"]),
        ("SELECT o.total FROM sales.orders AS o", ["sales.orders.total"]),
        ("SELECT orders.total FROM orders AS o", ["?"]),
        ("SELECT total FROM other.orders", ["?"]),
        ("SELECT price FROM order_lines, products", ["?"]),
        ("SELECT status FROM orders, products", ["sales.orders.status"]),
        ("SELECT status FROM orders, visits", ["sales.orders.status"]),
        ("SELECT placed FROM orders, visits", ["?"]),
        ("SELECT s.x FROM (SELECT total AS x FROM orders) AS s", ["sales.orders.total"] * 2),
        ("SELECT x FROM (SELECT sum(total) AS x FROM orders) AS s", ["?", "sales.orders.total"]),
        ("WITH orders AS (SELECT id AS total FROM products) SELECT total FROM orders",
         ["stock.products.id"] * 2),
        ("WITH c(a) AS (SELECT id FROM orders) SELECT a FROM c", ["?", "sales.orders.id"]),
        ("SELECT 1 FROM orders WHERE EXISTS (SELECT 1 FROM products WHERE category = status)",
         ["stock.products.category", "^sales.orders.status"]),
        ("SELECT 1 FROM orders, (SELECT status FROM products) AS s", ["?"]),
        ("SELECT sum(total) AS status FROM orders ORDER BY status",
         ["sales.orders.total", "sales.orders.status"]),
        ("SELECT 1 FROM (orders JOIN customers ON customer_id = customers.id)",
         ["sales.orders.customer_id", "sales.customers.id"]),
        ("WITH RECURSIVE c AS (SELECT x FROM c) SELECT x FROM c", ["?", "?"]),
        ("SELECT a FROM orders AS o(a)", ["?"]),
        # What stands in FROM, and a CTE, see nothing of the query that they belong to.
        ("SELECT 1 FROM orders, (SELECT name FROM customers UNION SELECT status FROM visits) AS s",
         ["?", "sales.customers.name"]),
        ("WITH c AS (SELECT status FROM products) SELECT 1 FROM orders, c", ["?"]),
        ("SELECT 1 FROM orders WHERE EXISTS (WITH c AS (SELECT status) SELECT 1 FROM c)",
         ["^sales.orders.status"]),
    ],
)  # fmt: skip
def test_a_name_means_one_column_or_is_unknown(sql: str, means: list[str]) -> None:
    assert sorted(resolve(sql)) == sorted(means)


def test_keys_tie_columns_over_hops() -> None:
    query = read("SELECT o.seller_id, e.manager_id, o.customer_id FROM orders o, employees e")
    seller, manager, customer = [
        query.resolve(column) for column in query.tree.find_all(exp.Column)
    ]
    assert seller
    assert manager
    assert customer
    assert query.share_key(seller, manager)
    assert not query.share_key(seller, customer)


@pytest.mark.parametrize("sql", ["SELECT (", "SELECT 'a", f"SELECT {'(' * 2000}1{')' * 2000}"])
def test_what_does_not_parse_is_not_read(sql: str) -> None:
    assert read_query(sql, "postgres") is None


def test_a_column_behind_a_long_chain_is_known_or_unknown_but_never_an_error() -> None:
    def build(length: int) -> str:
        chain = ", ".join(f"c{at} AS (SELECT id FROM c{at - 1})" for at in range(1, length))
        last = f"SELECT id FROM c{length - 1} WHERE id = 'x'"
        return f"WITH c0 AS (SELECT id FROM orders), {chain} {last}"

    assert len(lint_query(read(build(70)))) <= 1
    assert read_query(build(260), "postgres") is None


def test_a_candidate_is_read_over_the_tables_that_retrieval_found() -> None:
    context = build_context(tables=["sales.orders"])
    sql = "SELECT orders.total, products.price FROM orders, products"
    query = read_candidate(sql, context)
    assert query is not None
    uses = [query.resolve(column) for column in query.tree.find_all(exp.Column)]
    assert [use.name if use else "" for use in uses] == ["sales.orders.total", ""]
