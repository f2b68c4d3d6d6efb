"""How large a query's expressions and texts can become, told from its text.

Two things grow from level to level of nested queries while the SQL stays short. An expression:
planners put the query below in the place of its name, so ten levels that each use a name four times
are an expression of a million nodes, which is planned before any time limit looks. And a text:
``t || t`` ten times over, ``repeat``, an aggregate over generated rows.

``query_measures.py`` measures the expressions and ``value_sizes.py`` what one node makes of its
operands; this module says what is too much.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from execution.fragments import quote_fragment
from execution.guard.growth_glance import MOST_COMPARED, is_small
from execution.guard.query_measures import QueryMeasurer, TooManyLooks
from execution.name_resolution.scopes import Resolution
from nl2sql.types import Violation

# Nodes that one expression may have when all that it names is put in its place. PostgreSQL takes
# 2.6 s and a gigabyte to plan 260,000.
_MOST_NODES = 20_000


def find_growth(nodes: Sequence[exp.Expr], found: Resolution) -> Violation | None:
    """Why the query could explode, or None.

    ``nodes`` are all of its tree, ``found`` is what its names were resolved to.
    """
    if is_small(nodes, found):
        return None
    try:
        return _find_growth(nodes, QueryMeasurer(found))
    except TooManyLooks:
        return Violation(
            "too_much_text",
            "",
            "Its queries depend on one another in too many ways: use fewer recursive queries.",
        )


def _find_growth(nodes: Sequence[exp.Expr], measurer: QueryMeasurer) -> Violation | None:
    for query in nodes:
        if not isinstance(query, exp.Query | exp.Values):
            continue
        select = query if isinstance(query, exp.Select) else exp.Select()
        for clause in query.iter_expressions():
            if isinstance(clause, exp.With | exp.Query):
                continue
            measure = measurer.measure(clause, select)
            if measure.nodes > _MOST_NODES:
                return Violation(
                    "too_much_text",
                    quote_fragment(clause),
                    "With the queries below it put in their places, an expression is too large.",
                )
            if measurer.explodes:
                return Violation(
                    "too_much_text",
                    quote_fragment(clause),
                    "A text or number made here could become far too long. Numbers do not grow as "
                    "double precision.",
                )
            if measurer.compared > MOST_COMPARED:
                return Violation(
                    "too_much_text",
                    quote_fragment(clause),
                    "Long texts or lists are searched for one another here, or numbers of many "
                    "digits computed, which could take far too long.",
                )
    return None
