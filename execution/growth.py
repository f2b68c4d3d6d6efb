"""How large a query's expressions and texts can become, told from its text.

Two things grow from level to level of nested queries while the SQL stays short. An expression:
planners put the query below in the place of its name, so ten levels that each use a name four times
are an expression of a million nodes, which is planned before any time limit looks. And a text:
``t || t`` ten times over, ``repeat``, an aggregate over generated rows.

Bytes of the database's own columns are assumed, not known: that estimate is for texts made out of
nothing, and limits of cells and results are for the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sqlglot import exp

from execution.name_resolution.scopes import Resolution, Source
from nl2sql.types import Violation

# Nodes that one expression may have when all that it names is put in its place. PostgreSQL takes
# 2.6 s and a gigabyte to plan 260,000.
_MOST_NODES = 20_000
# Bytes of one text.
_MOST_BYTES = 10_000_000

_COLUMN_BYTES = 100.0
_OTHER_BYTES = 20.0
# Stands for what a recursive query has made so far, while its next step is looked at.
_SELF_BYTES = 1e6

_JOINING = (exp.DPipe, exp.Concat, exp.ConcatWs, exp.Array, exp.Tuple, exp.Struct, exp.Anonymous)
_GATHERING = (exp.GroupConcat, exp.ArrayAgg, exp.JSONArrayAgg, exp.JSONObjectAgg)
# Aggregates that sqlglot knows by name only.
_GATHERING_NAMES = frozenset("json_agg jsonb_agg json_object_agg jsonb_object_agg list".split())
_SMALL = (exp.Predicate, exp.Connector, exp.Not, exp.Length, exp.Count, exp.Interval)


class Measure(NamedTuple):
    """Nodes of an expression, and bytes of its value."""

    nodes: float
    size: float


_BASE = Measure(1.0, _COLUMN_BYTES)


def find_growth(
    tree: exp.Expr,
    found: Resolution,
    *,
    factor: Callable[[exp.Expr], float],
    rows: Callable[[exp.Expr], float],
) -> Violation | None:
    """Why the query could explode, or None.

    ``factor`` tells how many times longer a function may make a text, ``rows`` how many rows a
    generator makes.
    """
    measurer = _Measurer(found, factor, rows)
    for select in tree.find_all(exp.Select):
        for clause in select.iter_expressions():
            if isinstance(clause, exp.With | exp.From):
                continue
            measure = measurer.measure(clause, select)
            if measure.nodes > _MOST_NODES:
                return Violation(
                    "too_much_text",
                    clause.sql("postgres")[:80],
                    "With the queries below it put in their places, an expression is too large.",
                )
            if measure.size > _MOST_BYTES or measurer.doubles:
                return Violation(
                    "too_much_text",
                    clause.sql("postgres")[:80],
                    "A text made here could become far too long.",
                )
    return None


class _Measurer:
    """Measures each output of each query once."""

    def __init__(
        self,
        found: Resolution,
        factor: Callable[[exp.Expr], float],
        rows: Callable[[exp.Expr], float],
    ) -> None:
        self._found = found
        self._factor = factor
        self._generated = rows
        self._outputs: dict[tuple[int, str], Measure | None] = {}
        self._rows: dict[int, float | None] = {}
        self.doubles = False

    def measure(self, node: exp.Expr, select: exp.Select) -> Measure:
        """The expression's measure; ``select`` is the query whose rows an aggregate gathers."""
        if isinstance(node, exp.Column):
            source = self._found.origins.get(id(node))
            return _BASE if source is None else self._measure_column(source, node.name.lower())
        if isinstance(node, exp.Query):
            inner = self._measure_query(node, "")
            return Measure(inner.nodes + 1, inner.size)
        if isinstance(node, exp.Literal):
            return Measure(1.0, float(len(node.name)))
        parts = [self.measure(child, select) for child in node.iter_expressions()]
        nodes = 1 + sum(part.nodes for part in parts)
        return Measure(nodes, self._measure_size(node, [part.size for part in parts], select))

    def _measure_size(self, node: exp.Expr, sizes: list[float], select: exp.Select) -> float:
        largest = max(sizes, default=0.0)
        if isinstance(node, exp.Repeat | exp.Pad | exp.Replace | exp.RegexpReplace):
            return largest * self._factor(node)
        if isinstance(node, _GATHERING) or node.name.lower() in _GATHERING_NAMES:
            return sum(sizes) * max(self._count_rows(select), 1.0)
        if isinstance(node, _SMALL):
            return _OTHER_BYTES
        if isinstance(node, _JOINING):
            return sum(sizes)
        return max(largest, _OTHER_BYTES)

    # -- columns of queries --------------------------------------------------------------------

    def _measure_column(self, source: Source, name: str) -> Measure:
        if isinstance(source.origin, tuple):
            parts = [self._measure_column(part, name) for part in source.origin]
            return _find_largest(parts)
        if isinstance(source.origin, exp.Query):
            return self._measure_query(source.origin, name)
        return _BASE

    def _measure_query(self, query: exp.Expr, name: str) -> Measure:
        """The largest of the query's outputs that may be called ``name``; of all if it is empty."""
        while isinstance(query, exp.Subquery):
            query = query.this
        key = (id(query), name)
        if key in self._outputs:
            known = self._outputs[key]
            return Measure(1.0, _SELF_BYTES) if known is None else known
        self._outputs[key] = None
        if isinstance(query, exp.SetOperation):
            measure = self._measure_set(query, name)
        elif isinstance(query, exp.Select):
            measure = self._measure_select(query, name)
        else:
            measure = _BASE
        self._outputs[key] = measure
        return measure

    def _measure_set(self, query: exp.SetOperation, name: str) -> Measure:
        first = self._measure_query(query.this, name)
        # By position, which names do not tell.
        second = self._measure_query(query.expression, "")
        size = second.size
        if size >= _SELF_BYTES:
            # It holds what the recursion has made before: once, it grows by a piece at each step.
            self.doubles = self.doubles or size >= 1.5 * _SELF_BYTES
            size -= _SELF_BYTES
        # No planner puts a set operation in the place of its name.
        return Measure(1.0, max(first.size, size, 1.0))

    def _measure_select(self, query: exp.Select, name: str) -> Measure:
        outputs = query.expressions
        named = [each for each in outputs if each.alias_or_name.lower() == name] if name else []
        parts = [self.measure(each.unalias(), query) for each in named]
        if not named:
            for each in outputs:
                if each.is_star:
                    sources = self._found.selects.get(id(query), ())
                    parts += [self._measure_column(source, name) for source in sources]
                else:
                    parts.append(self.measure(each.unalias(), query))
        measure = _find_largest(parts)
        stays = any(query.args.get(key) for key in ("group", "distinct", "limit", "offset"))
        return Measure(1.0, measure.size) if stays else measure

    # -- rows ----------------------------------------------------------------------------------

    def _count_rows(self, query: exp.Expr) -> float:
        """How many rows the generators in a query make, multiplied; a table of its own counts 1."""
        while isinstance(query, exp.Subquery):
            query = query.this
        if id(query) in self._rows:
            # None while the rows of a recursion are counted, by its own bound.
            known = self._rows[id(query)]
            return self._generated(query) if known is None else known
        self._rows[id(query)] = None
        count = 1.0
        if isinstance(query, exp.SetOperation):
            count = self._count_rows(query.this) + self._count_rows(query.expression)
        elif isinstance(query, exp.Select):
            for source in self._found.selects.get(id(query), ()):
                origins = source.origin if isinstance(source.origin, tuple) else (source,)
                for each in origins:
                    if isinstance(each.origin, exp.Query):
                        count *= self._count_rows(each.origin)
                    elif isinstance(each.origin, exp.Expr):
                        count *= self._generated(each.origin)
            for output in query.expressions:
                count *= max(
                    (self._generated(each) for each in output.find_all(exp.Func)), default=1.0
                )
        self._rows[id(query)] = count
        return count


def _find_largest(parts: list[Measure]) -> Measure:
    return Measure(
        max((part.nodes for part in parts), default=1.0),
        max((part.size for part in parts), default=_COLUMN_BYTES),
    )
