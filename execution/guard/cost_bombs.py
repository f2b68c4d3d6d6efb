"""Stops queries of a few characters that would ask for gigabytes or never end, before they run.

Three kinds can be told from the text: generators of rows (``generators.py``), what makes texts and
expressions grow (``growing_calls.py``, ``growth.py``), and recursion without a bound
(``recursion.py``). What cannot (a join without a condition, a recursion over data that goes in
circles) is left to the estimate of the plan and to the limits of time, rows and bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from execution.guard.generators import GENERATORS, check_generator
from execution.guard.growing_calls import check_arguments, check_call
from execution.guard.growth import find_growth
from execution.guard.recursion import check_recursion
from execution.name_resolution.scopes import Resolution
from nl2sql.types import Violation


def find_bomb(nodes: Sequence[exp.Expr], found: Resolution) -> Violation | None:
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
    return find_growth(nodes, found)
