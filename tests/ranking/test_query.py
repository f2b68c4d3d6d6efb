"""Which column of which table a name of a candidate means."""

from __future__ import annotations

import pytest
from sqlglot import exp

from ranking.lint import lint_query
from ranking.query import Query, read_candidate, read_query
from tests.fakes import SHOP, build_context
from tests.golden import load_changes


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


@pytest.mark.parametrize(("sql", "means"), load_changes("column_meanings"))
def test_a_name_means_one_column_or_is_unknown(sql: str, means: str) -> None:
    assert sorted(resolve(sql)) == sorted(means.split())


def test_keys_tie_columns_over_hops() -> None:
    query = read("SELECT o.seller_id, e.manager_id, o.customer_id FROM orders o, employees e")
    seller, manager, customer = [
        query.resolve(column) for column in query.tree.find_all(exp.Column)
    ]
    assert seller
    assert manager
    assert customer
    assert query.name_values(seller) == query.name_values(manager)
    assert query.name_values(seller) != query.name_values(customer)


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
