"""The walk by itself, over trees that no parser makes or that are refused before it sees them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import exp

from execution.guard_dialects import parse_statements
from execution.name_resolution.nodes import list_excluded
from execution.name_resolution.scopes import NameResolver, Unresolved
from execution.name_resolution.walk import resolve_names
from nl2sql.sql.nodes import find_all
from tests.fakes import SHOP


def resolve(tree: exp.Expr, *more: exp.Expr, dialect: str = "postgres") -> str:
    """The violation's code; ``more`` are nodes that the walk does not come by."""
    resolver = NameResolver(replace(SHOP, dialect=dialect))
    try:
        resolve_names(tree, [*find_all(tree, exp.Expr), *more], resolver)
    except Unresolved as refusal:
        return refusal.violation.code
    return ""


def parse(sql: str) -> exp.Expr:
    (tree,) = parse_statements(sql, "postgres")
    assert tree is not None
    return tree


def test_what_no_rule_came_by_is_refused() -> None:
    assert resolve(parse("SELECT id FROM orders")) == ""
    assert resolve(parse("SELECT id FROM orders"), exp.column("x")) == "unexplained_column"
    assert resolve(parse("SELECT id FROM orders"), exp.to_table("x")) == "unexplained_table"


@pytest.mark.parametrize(
    ("kind", "argument"),
    [
        (exp.Select, "kind"),
        (exp.Select, "hint"),
        (exp.Select, "connect"),
        (exp.Join, "global_"),
        (exp.Join, "match_condition"),
        (exp.Table, "sample"),
        (exp.Table, "when"),
        (exp.Subquery, "sample"),
    ],
)
def test_an_argument_that_nobody_thought_of_is_refused(kind: type[exp.Expr], argument: str) -> None:
    tree = parse("SELECT 1 FROM (SELECT 1) AS d JOIN orders AS o ON true")
    node = tree if kind is exp.Select else tree.find(kind)
    assert node is not None
    node.set(argument, exp.true())
    assert resolve(tree) == "node_not_allowed"


@pytest.mark.parametrize(
    ("node", "code"),
    [
        (exp.column("id"), ""),
        (exp.Column(this=exp.Literal.string("id")), "node_not_allowed"),
        (exp.Exists(this=exp.select("1")), ""),
    ],
    ids=["column", "column_of_a_string", "query"],
)
def test_an_output_that_no_parser_made(node: exp.Expr, code: str) -> None:
    tree = parse("SELECT 1 FROM orders")
    tree.set("expressions", [node])
    assert resolve(tree) == code


def test_using_takes_nothing_but_names() -> None:
    for shared, code in ((exp.column("id"), ""), (exp.Literal.string("id"), "node_not_allowed")):
        tree = parse("SELECT 1 FROM orders JOIN customers USING (name)")
        (join,) = tree.find_all(exp.Join)
        join.set("using", [shared])
        assert resolve(tree) == code


@pytest.mark.parametrize("node", [exp.Lateral(this=exp.select("1")), exp.select("1"), exp.true()])
def test_a_source_that_no_parser_made(node: exp.Expr) -> None:
    tree = parse("SELECT 1 FROM orders")
    tree.args["from_"].set("this", node)
    assert resolve(tree) == "node_not_allowed"


def test_a_star_leaves_out_no_star() -> None:
    star = exp.Star(except_=[exp.Column(this=exp.Star())])
    with pytest.raises(Unresolved):
        list_excluded(star)


def test_what_is_no_query_is_refused() -> None:
    assert resolve(exp.Exists(this=exp.select("1"))) == "node_not_allowed"
