"""Stops queries of a few characters that would ask for gigabytes or never end, before they run.

Three kinds can be told from the text: generators of rows and calls that make texts long
(``growing_calls.py``), recursion without a bound (``recursion.py``), and what grows from level to
level of nested queries while the SQL stays short. What cannot (a join without a condition, a
recursion over data that goes in circles) is left to the estimate of the plan and to the limits of
time, rows and bytes.

From level to level grow an expression and a text. Planners put the query below in the place of its
name, so ten levels that each use a name four times are an expression of a million nodes, which is
planned before any time limit looks. A text grows by ``t || t`` ten times over, ``repeat``, or an
aggregate over generated rows. ``growth.py`` measures the expressions and ``value_sizes.py``
what one node makes of its operands; this module says what is too much.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from execution.guard.growing_calls import GENERATORS, check_arguments, check_call, check_generator
from execution.guard.growth import QueryMeasurer, TooManySteps
from execution.guard.recursion import check_recursion
from execution.guard.value_sizes import MOST_COMPARED
from execution.guard_dialects import quote_fragment
from execution.name_resolution.scopes import Resolution
from nl2sql.types import Violation

# Nodes that one expression may have when all that it names is put in its place. PostgreSQL takes
# 2.6 s and a gigabyte to plan 260,000.
_MOST_NODES = 20_000


def check_query_size(nodes: Sequence[exp.Expr], found: Resolution) -> Violation | None:
    """Why the query could explode, or None.

    ``nodes`` are all of its tree, ``found`` is what its names were resolved to.
    """
    for node in nodes:
        violation = check_arguments(node) or check_call(node)
        if violation is None and isinstance(node, GENERATORS):
            violation = check_generator(node)
        elif violation is None and isinstance(node, exp.CTE):
            violation = check_recursion(node, found)
        if violation is not None:
            return violation
    return _check_growth(nodes, found)


def _check_growth(nodes: Sequence[exp.Expr], found: Resolution) -> Violation | None:
    try:
        return _find_growth(nodes, QueryMeasurer(found))
    except TooManySteps:
        return Violation(
            "too_much_text",
            "",
            "Its queries depend on one another in too many ways: use fewer recursive queries.",
        )


def _find_growth(nodes: Sequence[exp.Expr], measurer: QueryMeasurer) -> Violation | None:
    for node in nodes:
        if isinstance(node, exp.CTE):
            # In their order, so that a recursion that reads another finds it measured.
            measurer.measure_query(node.this, "")
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
