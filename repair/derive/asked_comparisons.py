"""The operator of a comparison with a figure that the question names."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.derive.original import Original

OPERATORS: dict[str, type[exp.Binary]] = {
    ">": exp.GT,
    ">=": exp.GTE,
    "<": exp.LT,
    "<=": exp.LTE,
}


def asked_comparisons(original: Original) -> Iterator[exp.Expr]:
    """``stock >= 2000`` becomes ``stock > 2000`` if the question says "more than 2000".

    "After 2008" may mean both.
    """
    for node in list(find_all(original.tree, *OPERATORS.values(), exp.EQ)):
        if not isinstance(node.expression, exp.Literal):
            continue
        figure = node.expression.this
        asked = {
            operator
            for pairs in original.expected.comparisons
            for operator, named in pairs
            if named == figure
        }
        for operator in sorted(asked):
            if (other := OPERATORS[operator]) is not type(node):
                draft = original.draft()
                copy = draft.of(node)
                copy.replace(other(this=copy.this, expression=copy.expression))
                yield draft.tree
