"""Walks over a query's tree, in a third of the time of sqlglot's own walk; reads its names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from sqlglot import exp

from nl2sql.sql.names import fold_name

Node = TypeVar("Node", bound=exp.Expr)


def find_all(tree: exp.Expr, *kinds: type[Node]) -> Iterator[Node]:
    """The nodes of these kinds, the root first, level by level.

    As with ``tree.find_all(*kinds)``, the loop may change the tree: the children of a node are read
    only when the next node is requested.

    >>> from nl2sql.sql.parsing import parse_one
    >>> [column.name for column in find_all(parse_one("SELECT f(a), b", "postgres"), exp.Column)]
    ['b', 'a']
    """
    nodes: list[exp.Expr] = [tree]
    add = nodes.append
    for node in nodes:
        if isinstance(node, kinds):
            yield node
        for value in node.args.values():
            if isinstance(value, exp.Expr):
                add(value)
            elif type(value) is list:
                for child in value:
                    if isinstance(child, exp.Expr):
                        add(child)


def list_selects(query: exp.Expr | None) -> Iterator[exp.Select]:
    """The SELECTs that make the rows of a query: several in a UNION, EXCEPT or INTERSECT.

    >>> from nl2sql.sql.parsing import parse_one
    >>> query = parse_one("SELECT a UNION (SELECT b EXCEPT SELECT c)", "postgres")
    >>> [select.selects[0].name for select in list_selects(query)]
    ['a', 'b', 'c']
    """
    if isinstance(query, exp.SetOperation):
        yield from list_selects(query.this)
        yield from list_selects(query.expression)
    elif isinstance(query, exp.Subquery):
        yield from list_selects(query.this)
    elif isinstance(query, exp.Select):
        yield query


def list_conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that AND connects, whatever the brackets.

    >>> from nl2sql.sql.parsing import parse_one
    >>> where = parse_one("SELECT 1 FROM t WHERE (a AND (b OR c))", "postgres").args["where"]
    >>> [part.sql() for part in list_conjuncts(where.this)]
    ['a', '(b OR c)']
    """
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        return [*list_conjuncts(inner.this), *list_conjuncts(inner.expression)]
    return [condition]


def read_identifier(node: object, dialect: str) -> str:
    """The folded name that the database reads in an identifier; empty for any other node.

    PostgreSQL folds only what is not quoted, and in UTF-8 ASCII letters only.

    >>> read_identifier(exp.Identifier(this="ÜBER_ID"), "postgres")
    'Über_id'
    """
    if not isinstance(node, exp.Identifier):
        return ""
    if dialect == "postgres":
        return node.name if node.args.get("quoted") else fold_name(node.name, "sqlite")
    return fold_name(node.name, dialect)
