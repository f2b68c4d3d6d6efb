"""Stops queries of a few characters that would ask for gigabytes or never end, before they run.

Three kinds can be told from the text: generators of rows and calls that make texts long
(``growing_calls.py``), recursion without a bound (``recursion.py``), and what grows from level to
level of nested queries while the SQL stays short. What cannot (a join without a condition, a
recursion over data that goes in circles) is left to the estimate of the plan and to the limits of
time, rows and bytes.

From level to level grow an expression and a text. Planners put the query below in the place of its
name, so ten levels that each use a name four times are an expression of a million nodes, which is
planned before any time limit looks. A text grows by ``t || t`` ten times over, ``repeat``, or an
aggregate over generated rows. ``growth.py`` measures both.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from execution.guard.growing_calls import GENERATORS, check_arguments, check_call, check_generator
from execution.guard.growth import check_growth
from execution.guard.recursion import check_recursion
from execution.name_resolution.scopes import Resolution
from nl2sql.types import Violation


def check_query_size(
    nodes: Sequence[exp.Expr], found: Resolution, dialect: str
) -> Violation | None:
    """Why the query could explode, or None. Raises Unresolved where it grows.

    ``nodes`` are all of its tree, ``found`` is what its names were resolved to.
    """
    rounds: dict[int, float] = {}
    for node in nodes:
        violation = check_arguments(node) or check_call(node)
        if violation is None and isinstance(node, GENERATORS):
            violation = check_generator(node)
        elif violation is None and isinstance(node, exp.CTE):
            violation = check_recursion(node, found, dialect, rounds)
        if violation is not None:
            return violation
    check_growth(nodes, found, rounds if dialect == "postgres" else {})
    return None
