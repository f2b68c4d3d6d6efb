"""How many rows a query may have, all that it reads from multiplied."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from execution.guard.generators import count_generated
from execution.guard.measured_functions import SPREADING, name_call
from execution.guard.measures import Known, StepMemory
from execution.name_resolution.scopes import Resolution, Source


class RowCounter:
    """Counts the rows of each query once, or once for each step of what that rests on."""

    def __init__(
        self,
        found: Resolution,
        memory: StepMemory,
        measure_size: Callable[[exp.Expr, exp.Select], float],
    ) -> None:
        """``measure_size`` gives the bytes of an expression of a query."""
        self._found = found
        self._memory = memory
        self._measure_size = measure_size
        self._known: dict[tuple[int, float], Known[float]] = {}
        # What is counted just now: meeting it again is a recursion.
        self.open: set[tuple[int, float]] = set()

    def count_rows(self, query: exp.Expr, table: float) -> float:
        """How many rows a query may have, all its sources multiplied; one of ``table`` rows each.

        Conditions are not looked at, so a table counts for 1 unless it matters.
        """
        while isinstance(query, exp.Subquery):
            query = query.this
        key = (id(query), table)
        if key in self.open:
            # A recursion that meets itself: all that is known of its rows is its own bound.
            return count_generated(query)
        return self._memory.find_out(self._known, key, lambda: self._count_anew(query, table))

    def _count_anew(self, query: exp.Expr, table: float) -> float:
        self.open.add((id(query), table))
        count = 1.0
        if isinstance(query, exp.SetOperation):
            count = self.count_rows(query.this, table) + self.count_rows(query.expression, table)
        elif isinstance(query, exp.Select):
            for source in self._found.selects.get(id(query), ()):
                count *= self._count_source(source, query, table)
            for output in query.expressions:
                calls = (self._count_call(call, query) for call in output.find_all(exp.Func))
                count *= max(calls, default=1.0)
        self.open.discard((id(query), table))
        return count

    def _count_source(self, source: Source, query: exp.Select, table: float) -> float:
        origin = source.origin
        if isinstance(origin, tuple):
            count = 1.0
            for part in origin:
                count *= self._count_source(part, query, table)
            return count
        if isinstance(origin, exp.Query):
            return self.count_rows(origin, table)
        if isinstance(origin, exp.Values):
            return float(len(origin.expressions))
        if isinstance(origin, exp.Unnest):
            sizes = [self._measure_size(part, query) for part in origin.expressions]
            return max(1.0, *sizes)
        if isinstance(origin, exp.Expr):
            return self._count_call(origin, query)
        return table if source.table is not None else 1.0

    def _count_call(self, call: exp.Expr, query: exp.Select) -> float:
        """How many rows a function gives at most: one for each byte of what it takes apart."""
        if name_call(call) not in SPREADING:
            return count_generated(call)
        return max(1.0, *(self._measure_size(part, query) for part in call.expressions), 1.0)
