"""Reads the SQL parts of definitions: one expression or one condition, and nothing else."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.sql.parsing import describe_parse_error, parse_one

_WHERE = re.compile(r"\s+where\s+", re.IGNORECASE)
_BEFORE_EXPRESSION = "SELECT "
_BEFORE_CONDITION = "SELECT 1 WHERE "


class Misfit(Exception):
    """A definition cannot be used; ``place`` are the keys inside it that are wrong."""

    def __init__(self, text: str, place: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.place = place


def split_where(expression: str, condition: str, dialect: str) -> tuple[str, str]:
    """``sum(a.b) where c.d > 1`` as expression and condition; Misfit if there are two conditions.

    >>> split_where("sum(a.b) where a.c = ' where '", "", "postgres")
    ('sum(a.b)', "a.c = ' where '")
    >>> split_where("count(*) filter (where a.b > 1)", "a.c = 2", "postgres")
    ('count(*) filter (where a.b > 1)', 'a.c = 2')
    """
    for match in _WHERE.finditer(expression):
        left, right = expression[: match.start()], expression[match.end() :]
        try:
            parse_one(f"{_BEFORE_EXPRESSION}{left}", dialect)
        except (SqlglotError, RecursionError):
            continue  # inside brackets or a text
        if condition:
            raise Misfit("it has a WHERE and a filter; write one of them", ("expression",))
        return left, right
    return expression, condition


def join_lines(text: str) -> str:
    """The text on one line, as prompts show it.

    >>> join_lines("sum(a.b)\\n  + 1\\n")
    'sum(a.b) + 1'
    """
    return " ".join(line.strip() for line in text.strip().splitlines())


def read_expression(text: str, kind: str, dialect: str) -> exp.Expr:
    """The tree of a measure's or dimension's expression. Raises Misfit."""
    place = ("expression",)
    select = _read(text, _BEFORE_EXPRESSION, dialect, place)
    if set(_list_clauses(select)) != {"expressions"} or len(select.expressions) != 1:
        raise Misfit("write one expression, without FROM and other clauses", place)
    tree: exp.Expr = select.expressions[0]
    if isinstance(tree, exp.Alias | exp.Star) or (
        isinstance(tree, exp.Column) and isinstance(tree.this, exp.Star)
    ):
        raise Misfit("write one expression, without AS and without a star", place)
    aggregates = tree.find(exp.AggFunc) is not None
    if kind == "measure" and not aggregates:
        raise Misfit("a measure needs an aggregate such as sum(…) or count(…)", place)
    if kind == "dimension" and aggregates:
        raise Misfit("a dimension has no aggregate; make it a measure", place)
    return tree


def read_condition(text: str, dialect: str, place: tuple[str, ...]) -> exp.Expr:
    """The tree of a condition. Raises Misfit."""
    select = _read(text, _BEFORE_CONDITION, dialect, place)
    if set(_list_clauses(select)) != {"expressions", "where"}:
        raise Misfit("write one condition, without further clauses", place)
    tree: exp.Expr = select.args["where"].this
    if tree.find(exp.AggFunc, exp.Window) is not None:
        raise Misfit("a condition is about single rows and has no aggregate", place)
    return tree


def _list_clauses(select: exp.Select) -> list[str]:
    return [name for name, value in select.args.items() if value]


def _read(text: str, before: str, dialect: str, place: tuple[str, ...]) -> exp.Select:
    try:
        tree = parse_one(f"{before}{text}", dialect)
    except (SqlglotError, RecursionError) as error:
        raise Misfit(f"it is not valid SQL: {describe_parse_error(error)}", place) from error
    if not isinstance(tree, exp.Select):
        raise Misfit("write one expression or condition, not a query or a statement", place)
    if tree.find(exp.Subquery, exp.Window) is not None or len(list(tree.find_all(exp.Select))) > 1:
        raise Misfit("it may have no subquery and no window function", place)
    if any(node.comments for node in tree.walk()):
        raise Misfit("put comments beside it, in YAML", place)
    for identifier in tree.find_all(exp.Identifier):
        for key in ("start", "end"):
            if key in identifier.meta:
                identifier.meta[key] -= len(before)
    return tree
