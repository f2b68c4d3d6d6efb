"""Derived candidates: near neighbours of a query that runs, which a person would try next.

One rule in each file, the function named like the file, all listed in one tuple. A rule takes an
``Original`` and yields changed copies of its query. Nothing here decides which query is right:
a derived candidate is guarded, explained and run like any other, and wins only by its score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from repair.derive.asked_rounding import asked_rounding
from repair.derive.both_conditions import both_conditions
from repair.derive.counted_groups import counted_groups
from repair.derive.counted_tables import counted_tables
from repair.derive.defined_measures import defined_measures
from repair.derive.dropped_conditions import dropped_conditions
from repair.derive.dropped_joins import dropped_joins
from repair.derive.fewer_outputs import fewer_outputs
from repair.derive.grounded_lists import grounded_lists
from repair.derive.grounded_values import grounded_values
from repair.derive.nulls_last import nulls_last
from repair.derive.original import Original
from repair.derive.reversed_order import reversed_order
from repair.derive.shared_values import shared_values
from repair.derive.shown_names import shown_names
from repair.derive.unrelated_rows import unrelated_rows
from repair.derive.unstored_values import unstored_values

Rule = Callable[[Original], Iterator[exp.Expr]]

# The first says which results are of one reading. Of the others, the first have made right
# candidates most often for each candidate that they made.
RULES: tuple[Rule, ...] = (
    shown_names,
    defined_measures,
    asked_rounding,
    nulls_last,
    unrelated_rows,
    both_conditions,
    fewer_outputs,
    counted_groups,
    counted_tables,
    shared_values,
    grounded_lists,
    dropped_joins,
    reversed_order,
    unstored_values,
    dropped_conditions,
    grounded_values,
)
