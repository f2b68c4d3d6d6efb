"""How large the expressions and values of a query become, each with all that it names in its place.

A recursive query is followed for some steps. In a step its own columns are taken for what the step
before made of them. What is found out in a step may rest on that, so it is forgotten at the end.
The rows of a query are those of all that it reads from, multiplied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlglot import exp

from execution.guard.growing_calls import count_generated
from execution.guard.measured_functions import MULTIPLYING, SPREADING, measure_literal, name_call
from execution.guard.value_sizes import (
    ARITHMETIC,
    COLUMN_BYTES,
    MOST_BYTES,
    compares,
    computes,
    gives_back,
    is_power,
    makes_list,
    measure_value,
    multiply_sizes,
)
from execution.name_resolution.nodes import find_star, list_replacements
from execution.name_resolution.scopes import Resolution, Source

# A recursive query is followed for so many steps. Over the second half of them, what adds a piece
# at each becomes at most twice as long; what doubles, sixteen times.
_STEPS = 10
_MOST_STEPPED = 4.0
# Looks at nodes and columns before a query is refused for how long it takes to measure: about a
# second. What people write needs some hundreds, wide or deep queries some thousands.
_MOST_LOOKS = 100_000

# Operators whose operands may be measured in any grouping.
_CHAINED = (exp.Add, exp.Connector, exp.DPipe)


class ExpressionSize(NamedTuple):
    """Nodes of an expression, bytes of its value, and whether that is a list.

    A list has its quotes doubled once more by what makes a text of it, or puts it into another.
    ``made`` is what was made longer of a whole row's columns, 0 for what is no row.
    """

    nodes: float
    size: float
    is_list: bool = False
    made: float = 0.0


BASE = ExpressionSize(1.0, COLUMN_BYTES)


def find_largest(parts: Sequence[ExpressionSize]) -> ExpressionSize:
    """The most nodes and the most bytes of any part."""
    return ExpressionSize(
        max((part.nodes for part in parts), default=1.0),
        max((part.size for part in parts), default=COLUMN_BYTES),
        any(part.is_list for part in parts),
    )


def find_named(columns: Sequence[tuple[str, ExpressionSize]], name: str) -> ExpressionSize:
    """The column of that name; the largest of all if none is called so."""
    named = [measure for own, measure in columns if name and own == name]
    return find_largest(named or [measure for _, measure in columns])._replace(nodes=1.0)


_Columns = Sequence[tuple[str, ExpressionSize]]


@dataclass(eq=False, slots=True)
class _MeasuredQueries:
    """What was found out, and the queries that are being measured or counted."""

    outputs: dict[tuple[int, str], ExpressionSize] = field(default_factory=dict)
    recursions: dict[int, _Columns] = field(default_factory=dict)
    counts: dict[tuple[int, float], float] = field(default_factory=dict)
    measuring: set[int] = field(default_factory=set)
    counting: set[tuple[int, float]] = field(default_factory=set)


class TooManySteps(Exception):
    """Measuring takes too long."""


class QueryMeasurer:
    """Measures each output of each query once, or once for each step of what it rests on."""

    def __init__(self, found: Resolution) -> None:
        self._found = found
        self._looks = 0
        self._listed: dict[int, tuple[dict[str, list[exp.Expr]], list[exp.Star]]] = {}
        # What is known of outputs of queries, of recursions, and of rows; and queries whose outputs
        # or rows are being found out, so that meeting one of them again is a recursion.
        self._known = _MeasuredQueries()
        # The columns of recursive queries that are followed just now, by their ``id``.
        self._assumed: dict[int, _Columns] = {}
        # Whether any value on the way, however small what is made of it, is too long.
        self.explodes = False
        # Products of the sizes of what is searched for one another: of each node, and of all.
        self._products: dict[int, float] = {}
        self.compared = 0.0

    def measure(self, node: exp.Expr, select: exp.Select) -> ExpressionSize:
        """The expression's measure; ``select`` is the query whose rows an aggregate gathers."""
        self._look()
        if isinstance(node, exp.Column) and not node.is_star:
            source = self._found.origins.get(id(node))
            if source is None:
                return BASE
            name = node.name.lower()
            if name not in source.columns:
                return self._measure_row(source)
            return self._measure_column(source, name)
        if isinstance(node, exp.Query):
            inner = self.measure_query(node, "")
            return inner._replace(nodes=inner.nodes + 1)
        if isinstance(node, exp.Literal):
            return ExpressionSize(1.0, measure_literal(node))
        # A long chain of one operator is measured at once: Python would recurse too deeply.
        is_chain = isinstance(node, _CHAINED)
        children = list(node.flatten() if is_chain else node.iter_expressions())
        parts = [self.measure(child, select) for child in children]
        nodes = sum((part.nodes for part in parts), start=max(len(parts) - 1, 1) if is_chain else 1)
        quotes = 1 if gives_back(node) or name_call(node) in MULTIPLYING else 2
        sizes = [part.size * quotes if part.is_list else part.size for part in parts]
        if compares(node):
            self._add_product(node, multiply_sizes(node, children, sizes))
        made = max(
            (part.made or size for part, size in zip(parts, sizes, strict=True)), default=0.0
        )
        size = measure_value(
            node,
            children,
            sizes,
            select=select,
            made=made,
            count_rows=self._count_rows,
        )
        if computes(node):
            largest = max(sizes, default=0.0)
            # Times itself: a power that is too large for a float is an error.
            product = multiply_sizes(node, children, sizes) or largest * largest
            self._add_product(node, product * ARITHMETIC)
        elif is_power(node):
            self._add_product(node, size * size * ARITHMETIC)
        self.explodes = self.explodes or size > MOST_BYTES
        is_list = makes_list(node) or (gives_back(node) and any(part.is_list for part in parts))
        # A whole row stays one in an aggregate's ORDER BY or DISTINCT.
        stays = isinstance(node, exp.Order | exp.Ordered | exp.Distinct)
        return ExpressionSize(nodes, size, is_list, made if stays else 0.0)

    def _add_product(self, node: exp.Expr, product: float) -> None:
        before = self._products.get(id(node), 0.0)
        if product > before:
            self._products[id(node)] = product
            self.compared += product - before

    def _look(self) -> None:
        self._looks += 1
        if self._looks > _MOST_LOOKS:
            raise TooManySteps

    # -- columns of queries --------------------------------------------------------------------

    def _measure_column(self, source: Source, name: str) -> ExpressionSize:
        self._look()
        if source.renamed:
            # What the query inside calls its outputs tells nothing then: the largest of all.
            name = ""
        if isinstance(source.origin, tuple):
            parts = [self._measure_column(part, name) for part in source.origin]
            return find_largest(parts)
        if isinstance(source.origin, exp.Expr):
            return self.measure_query(source.origin, name)
        return BASE

    def _measure_row(self, source: Source) -> ExpressionSize:
        """A whole row: the measure of all its columns together."""
        columns = [self._measure_column(source, name) for name in source.columns]
        return ExpressionSize(
            sum(column.nodes for column in columns),
            2 * sum(column.size * (2 if column.is_list else 1) for column in columns),
            made=sum(column.size for column in columns if column.size > COLUMN_BYTES)
            or COLUMN_BYTES,
        )

    def measure_query(self, query: exp.Expr, name: str) -> ExpressionSize:
        """The largest of the query's outputs that may be called ``name``; of all if it is empty."""
        while isinstance(query, exp.Subquery):
            query = query.this
        if (assumed := self._assumed.get(id(query))) is not None:
            return find_named(assumed, name)
        known, key = self._known, (id(query), name)
        if key not in known.outputs:
            if id(query) in known.measuring:
                return BASE
            known.measuring.add(id(query))
            known.outputs[key] = self._measure_anew(query, name)
            known.measuring.discard(id(query))
        return known.outputs[key]

    def _measure_anew(self, query: exp.Expr, name: str) -> ExpressionSize:
        if isinstance(query, exp.SetOperation):
            return self._measure_set(query, name)
        if isinstance(query, exp.Select):
            return self._measure_select(query, name)
        return self._measure_rows(query)

    def _measure_rows(self, origin: exp.Expr) -> ExpressionSize:
        """The largest of VALUES, or of what a function takes apart."""
        parts: Iterable[exp.Expr] = origin.iter_expressions()
        if not isinstance(origin, exp.Values):
            takes_apart = isinstance(origin, exp.GenerateSeries | exp.Unnest)
            if not takes_apart and name_call(origin) not in SPREADING:
                parts = [origin]
            # No planner puts a function's rows in the place of its name.
            measures = [self.measure(part, exp.Select())._replace(nodes=1.0) for part in parts]
        else:
            cells = (cell for row in origin.expressions for cell in row.expressions)
            measures = [self.measure(cell, exp.Select()) for cell in cells]
        return find_largest([BASE, *measures])

    def _measure_set(self, query: exp.SetOperation, name: str) -> ExpressionSize:
        step = query.expression
        while isinstance(step, exp.Subquery):
            step = step.this
        inner = step.find_all(exp.Select)
        sources = [source for select in inner for source in self._found.selects.get(id(select), ())]
        if isinstance(step, exp.Select) and any(_reads(source, query) for source in sources):
            if id(query) not in self._known.recursions:
                self._known.recursions[id(query)] = self._follow_recursion(query, step)
            return find_named(self._known.recursions[id(query)], name)
        first = self.measure_query(query.this, name)
        # By position, which names do not tell.
        second = self.measure_query(query.expression, "")
        # No planner puts a set operation in the place of its name.
        return find_largest([first, second])._replace(nodes=1.0)

    def _follow_recursion(self, query: exp.SetOperation, step: exp.Select) -> _Columns:
        """The columns of a recursive query, a few steps on."""
        names, sizes = _name_columns(query), self._measure_outputs(query.this)
        if sizes is None or len(sizes) != len(step.expressions) or _has_star(step):
            # The text does not tell which is which: all are taken for the largest.
            names, sizes = [], [self.measure_query(query.this, "")]
        names = [*names, *[""] * len(sizes)][: len(sizes)]
        halfway = sizes
        outer = self._known
        for step_number in range(_STEPS):
            self._assumed[id(query)] = list(zip(names, sizes, strict=True))
            # Queries under way are no recursion here, where this one is taken for what is assumed.
            self._known = _MeasuredQueries(
                dict(outer.outputs), dict(outer.recursions), dict(outer.counts)
            )
            made = self._measure_outputs(step) or []
            if len(made) != len(sizes):
                made = [self._measure_select(step, "")]
            sizes = [find_largest(pair) for pair in zip(sizes, made, strict=True)]
            halfway = sizes if step_number == _STEPS // 2 else halfway
        del self._assumed[id(query)]
        self._known = outer
        if any(
            last.size > _MOST_STEPPED * before.size
            for last, before in zip(sizes, halfway, strict=True)
        ):
            self.explodes = True
        return list(zip(names, sizes, strict=True))

    def _measure_outputs(self, query: exp.Expr) -> list[ExpressionSize] | None:
        """Each output, by its position; None where the text does not tell the positions."""
        while isinstance(query, exp.Subquery):
            query = query.this
        if isinstance(query, exp.SetOperation):
            first = self._measure_outputs(query.this)
            second = self._measure_outputs(query.expression)
            if first is None or second is None or len(first) != len(second):
                return None
            return [find_largest(pair) for pair in zip(first, second, strict=True)]
        if not isinstance(query, exp.Select) or _has_star(query):
            return None
        return [self.measure(output.unalias(), query) for output in query.expressions]

    def _measure_select(self, query: exp.Select, name: str) -> ExpressionSize:
        outputs, stars = self._list_outputs(query)
        named = outputs.get(name, []) if name else []
        # Where none is called so, it may be any.
        meant = named or [output for same in outputs.values() for output in same]
        parts = [self.measure(output.unalias(), query) for output in meant]
        sources = self._found.selects.get(id(query), ())
        for star in stars:
            # Of two outputs of one name, the one that a star gives may be the one meant.
            parts += [
                self._measure_column(source, name)
                for source in sources
                if not named or name in source.columns
            ]
            replaced = list_replacements(star)
            called = [part for part in replaced if part.alias.lower() == name] or replaced
            parts += [self.measure(part.this, query) for part in called]
        measure = find_largest(parts)
        stays = any(query.args.get(key) for key in ("group", "distinct", "limit", "offset"))
        return measure._replace(nodes=1.0) if stays else measure

    def _list_outputs(self, query: exp.Select) -> tuple[dict[str, list[exp.Expr]], list[exp.Star]]:
        """The outputs of a query by their names, and the stars among them."""
        found = self._listed.get(id(query))
        if found is None:
            outputs: dict[str, list[exp.Expr]] = {}
            stars = []
            for output in query.expressions:
                if (star := find_star(output)) is not None:
                    stars.append(star)
                else:
                    outputs.setdefault(output.alias_or_name.lower(), []).append(output)
            found = self._listed[id(query)] = outputs, stars
        return found

    # -- rows ----------------------------------------------------------------------------------

    def _count_rows(self, query: exp.Expr, table: float) -> float:
        """How many rows a query may have, all its sources multiplied; one of ``table`` rows each.

        Conditions are not looked at, so a table counts for 1 unless it matters.
        """
        while isinstance(query, exp.Subquery):
            query = query.this
        known, key = self._known, (id(query), table)
        if key not in known.counts:
            if key in known.counting:
                # A recursion that meets itself: all that is known of its rows is its own bound.
                return count_generated(query)
            known.counting.add(key)
            known.counts[key] = self._count_anew(query, table)
            known.counting.discard(key)
        return known.counts[key]

    def _count_anew(self, query: exp.Expr, table: float) -> float:
        count = 1.0
        if isinstance(query, exp.SetOperation):
            count = self._count_rows(query.this, table) + self._count_rows(query.expression, table)
        elif isinstance(query, exp.Select):
            for source in self._found.selects.get(id(query), ()):
                count *= self._count_source(source, query, table)
            for output in query.expressions:
                calls = (self._count_call(call, query) for call in output.find_all(exp.Func))
                count *= max(calls, default=1.0)
        return count

    def _count_source(self, source: Source, query: exp.Select, table: float) -> float:
        origin = source.origin
        if isinstance(origin, tuple):
            count = 1.0
            for part in origin:
                count *= self._count_source(part, query, table)
            return count
        if isinstance(origin, exp.Query):
            return self._count_rows(origin, table)
        if isinstance(origin, exp.Values):
            return float(len(origin.expressions))
        if isinstance(origin, exp.Unnest):
            sizes = [self.measure(part, query).size for part in origin.expressions]
            return max(1.0, *sizes)
        if isinstance(origin, exp.Expr):
            return self._count_call(origin, query)
        return table if source.table is not None else 1.0

    def _count_call(self, call: exp.Expr, query: exp.Select) -> float:
        """How many rows a function gives at most: one for each byte of what it takes apart."""
        if name_call(call) not in SPREADING:
            return count_generated(call)
        return max(1.0, *(self.measure(part, query).size for part in call.expressions), 1.0)


def _name_columns(query: exp.Expr) -> list[str]:
    """What the columns of a recursive query are called, as far as an alias or the text tells."""
    clause = query.parent
    renamed = clause.args["alias"].columns if isinstance(clause, exp.CTE) else ()
    names = [column.name.lower() for column in renamed]
    while not isinstance(query, exp.Select) and isinstance(query.this, exp.Expr):
        query = query.this
    own = query.expressions if isinstance(query, exp.Select) else []
    return names + [output.alias_or_name.lower() for output in own[len(names) :]]


def _reads(source: Source, query: exp.Expr) -> bool:
    if isinstance(source.origin, tuple):
        return any(_reads(part, query) for part in source.origin)
    return source.origin is query


def _has_star(query: exp.Select) -> bool:
    return any(find_star(output) is not None for output in query.expressions)
