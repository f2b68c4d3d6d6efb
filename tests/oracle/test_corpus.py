"""The corpus is SQL that the server takes, reaches every scope, and is the same at every run."""

from __future__ import annotations

import random
from collections import Counter

import postgast
import pytest

from tests.fakes import SHOP
from tests.oracle.corpus import build_gold_queries, build_table_queries, mutate_query
from tests.oracle.mutations import iterate_mutations
from tests.oracle.probes import PROBES, TREE_PROBES
from tests.oracle.runs import list_queries
from tests.oracle.spellings import RULES, respell_query
from tests.oracle.stage import PostgresStage
from tests.oracle.wrappers import WRAPPERS

GOLD = "SELECT o.id, o.total FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"


def test_every_wrapper_and_every_spelling_is_made_of_a_plain_query() -> None:
    kinds = {query.kind for query in mutate_query(SHOP, "x", GOLD)}
    assert kinds == set(WRAPPERS["postgres"]) | (set(RULES) - {"qualified_columns"})


def test_every_probe_is_made_of_some_table() -> None:
    kinds = {query.kind.split("/")[0] for query in build_table_queries(SHOP)}
    assert kinds == set(PROBES["postgres"]) | set(TREE_PROBES)


def test_each_is_one_statement_of_postgresql() -> None:
    queries = list_queries(SHOP, [("x", GOLD)])
    odd = [query for query in queries if len(postgast.parse(query.sql).stmts) != 1]
    assert len(queries) > 500
    assert not odd


def test_nearly_all_run_on_the_demo_erp(stage: PostgresStage) -> None:
    subject = stage.subjects[0]
    queries = list_queries(subject.catalog, subject.golds)
    assert len(queries) > 10_000
    sample = random.Random(3).sample(queries, 150)
    errors = Counter(stage.full.run(query.sql).sqlstate for query in sample)
    # Types that have no minimum or no array, and joins by a name that means two columns.
    assert errors[""] > 140, errors


@pytest.mark.parametrize(
    ("rule", "sql", "expected"),
    [
        ("upper_case", "SELECT id FROM orders o", "SELECT ID FROM ORDERS O"),
        ("quoted", "SELECT ID FROM orders", 'SELECT "id" FROM "orders"'),
        ("qualified", "SELECT id FROM orders", 'SELECT id FROM "sales".orders AS orders'),
        ("qualified_columns", "SELECT orders.id FROM orders", "SELECT sales.orders.id FROM orders"),
        (
            "alias_shadows",
            "SELECT o.id FROM orders AS o",
            'SELECT "customers".id FROM orders AS "customers"',
        ),
        (
            "cte_shadows",
            "SELECT id FROM orders",
            'WITH orders AS (SELECT * FROM "sales".orders) SELECT id FROM orders',
        ),
        (
            "cte_shadows_itself",
            "WITH w AS (SELECT 1) SELECT id FROM orders, w",
            "WITH orders AS (SELECT * FROM orders), w AS (SELECT 1) SELECT id FROM orders, w",
        ),
        ("line_comments", "SELECT id", "SELECT -- */ '\nid"),
    ],
)
def test_spellings(rule: str, sql: str, expected: str) -> None:
    assert dict(respell_query(sql, SHOP))[rule] == expected


def test_a_semicolon_is_left_out() -> None:
    assert next(build_gold_queries(SHOP, [("x", "SELECT 1;")])).sql == "SELECT 1"


def test_mutations_are_the_same_for_the_same_seed_and_of_every_kind() -> None:
    queries = [query.sql for query in build_table_queries(SHOP)]

    def draw() -> list[tuple[str, str]]:
        source = iterate_mutations(queries, random.Random(5))
        return [next(source) for _ in range(300)]

    first = draw()
    assert first == draw()
    assert {word for kind, _ in first for word in kind.split()} == {"splice", "tokens", "signs"}
    assert sum(text in queries for _, text in first) < 30
