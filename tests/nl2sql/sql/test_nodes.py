"""The walk over a tree is sqlglot's own, also where the loop changes the tree."""

from __future__ import annotations

import pytest
from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.sql.parsing import parse_one

QUERIES = (
    "SELECT 1",
    "SELECT a, f(b), (SELECT c FROM t WHERE d = 1) FROM x JOIN y USING (e) ORDER BY 1",
    "WITH v AS (SELECT a FROM t UNION SELECT b FROM u) SELECT * FROM v WHERE a IN (1, 2)",
)


@pytest.mark.parametrize("sql", QUERIES)
@pytest.mark.parametrize("kinds", [(exp.Expr,), (exp.Column,), (exp.Select, exp.Table)])
def test_the_same_nodes_in_the_same_order(sql: str, kinds: tuple[type[exp.Expr], ...]) -> None:
    tree = parse_one(sql, "postgres")
    assert list(map(id, find_all(tree, *kinds))) == list(map(id, tree.find_all(*kinds)))


@pytest.mark.parametrize("sql", QUERIES)
def test_what_the_loop_puts_in_is_walked_and_what_it_takes_out_is_not(sql: str) -> None:
    def change(tree: exp.Expr, *, own: bool) -> str:
        walk = find_all(tree, exp.Select) if own else tree.find_all(exp.Select)
        for number, select in enumerate(walk):
            select.where(exp.column(f"n{number}"), copy=False)
            if number == 1:
                select.set("expressions", [exp.Subquery(this=parse_one("SELECT 2", "postgres"))])
        return tree.sql("postgres")

    assert change(parse_one(sql, "postgres"), own=True) == change(
        parse_one(sql, "postgres"), own=False
    )
