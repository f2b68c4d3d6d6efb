"""The literals with which a query compares something."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from nl2sql.sql.column_kinds import TEXTS
from nl2sql.sql.nodes import list_conjuncts
from ranking.query import ColumnUse, Query

_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike)


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison, ``node``, of a column or an expression with a literal.

    ``use`` is the column, if it is known. ``is_shown``: a text that is stored in a column if the
    query finds anything.
    """

    node: exp.Expr
    literal: exp.Literal | exp.Boolean
    use: ColumnUse | None
    is_shown: bool = False

    @property
    def text(self) -> str:
        """The text or number of the literal."""
        return str(self.literal.this)


def list_conditions(query: Query) -> Iterator[Condition]:
    """All literals that an operator, IN or BETWEEN compares with a column or an expression.

    >>> from ranking.query import read_query
    >>> query = read_query("SELECT 1 FROM t WHERE 'x' = a AND b IN (1, 2)", "sqlite")
    >>> [condition.text for condition in list_conditions(query)]
    ['x', '1', '2']
    """
    needed = {id(node) for node in _list_needed(query.tree)}
    for node in query.find_all(*_COMPARED, exp.In, exp.Between):
        subject = node.this
        if isinstance(node, exp.In):
            compared = node.expressions
        elif isinstance(node, exp.Between):
            compared = [node.args["low"], node.args["high"]]
        elif isinstance(subject, exp.Literal):
            subject, compared = node.expression, [subject]
        else:
            compared = [node.expression]
        for literal in compared:
            if isinstance(literal, exp.Literal | exp.Boolean):
                is_shown = id(node) in needed and literal.is_string
                yield Condition(node, literal, query.resolve(subject), is_shown)


def _list_needed(tree: exp.Expr | None) -> Iterator[exp.Expr]:
    """The equations in WHERE without which a SELECT, or one inside them, finds no row."""
    if isinstance(tree, exp.Subquery):
        tree = tree.this
    if not isinstance(tree, exp.Select) or (where := tree.args.get("where")) is None:
        return
    for condition in list_conjuncts(where.this):
        if isinstance(condition, exp.EQ):
            yield condition
            yield from _list_needed(condition.expression)
        elif isinstance(condition, exp.In):
            yield from _list_needed(condition.args.get("query"))


def list_texts(query: Query) -> Iterator[tuple[ColumnUse, str]]:
    """The texts that a known column must equal, by ``=`` or IN.

    >>> from nl2sql.catalog import Column, Table
    >>> from ranking.query import read_query
    >>> table = Table("s", "t", (Column("a", "text"), Column("n", "int")))
    >>> sql = "SELECT 1 FROM t WHERE a = 'x' AND n = 'y' AND a <> 'z'"
    >>> query = read_query(sql, "sqlite", [table])
    >>> [(use.name, text) for use, text in list_texts(query)]
    [('s.t.a', 'x')]
    """
    for condition in list_conditions(query):
        use, node = condition.use, condition.node
        if (
            use is not None
            and condition.literal.is_string
            and isinstance(node, exp.EQ | exp.In)
            and not isinstance(node.parent, exp.Not)
            and query.kind_of(use) in TEXTS
        ):
            yield use, condition.text
