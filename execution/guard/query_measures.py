"""Measures of the expressions and outputs of queries, each with all that it names in its place."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from execution.guard.growth_glance import ARITHMETIC, COLUMN_BYTES, MOST_BYTES, compares, computes
from execution.guard.measured_functions import (
    MULTIPLYING,
    SPREADING,
    measure_literal,
    name_call,
)
from execution.guard.measures import BASE, Known, Measure, StepMemory, find_largest, find_named
from execution.guard.row_counts import RowCounter
from execution.guard.value_sizes import (
    gives_back,
    is_power,
    makes_list,
    measure_value,
    multiply_sizes,
)
from execution.name_resolution.scopes import Resolution, Source
from execution.name_resolution.stars import find_star, list_replacements

# A recursive query is followed for so many steps. Over the second half of them, what adds a piece
# at each becomes at most twice as long; what doubles, sixteen times.
_STEPS = 10
_MOST_STEPPED = 4.0
# Looks at nodes and columns before a query is refused for how long it takes to measure: about a
# second. What people write needs some hundreds, wide or deep queries some thousands.
_MOST_LOOKS = 100_000


class TooManyLooks(Exception):
    """Measuring takes too long."""


class QueryMeasurer:
    """Measures each output of each query once, or once for each step of what it rests on."""

    def __init__(self, found: Resolution) -> None:
        self._found = found
        self._memory = StepMemory()
        self._rows = RowCounter(
            found, self._memory, lambda node, select: self.measure(node, select).size
        )
        self._looks = 0
        self._listed: dict[int, tuple[dict[str, list[exp.Expr]], list[exp.Star]]] = {}
        self._outputs: dict[tuple[int, str], Known[Measure]] = {}
        self._recursions: dict[int, Known[list[tuple[str, Measure]]]] = {}
        # Queries under way: meeting one of them again is a recursion.
        self._open: set[int] = set()
        # Whether any value on the way, however small what is made of it, is too long.
        self.explodes = False
        # Products of the sizes of what is searched for one another: of each node, and of all.
        self._products: dict[int, float] = {}
        self.compared = 0.0

    def measure(self, node: exp.Expr, select: exp.Select) -> Measure:
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
            inner = self._measure_query(node, "")
            return inner._replace(nodes=inner.nodes + 1)
        if isinstance(node, exp.Literal):
            return Measure(1.0, measure_literal(node))
        children = list(node.iter_expressions())
        parts = [self.measure(child, select) for child in children]
        nodes = 1 + sum(part.nodes for part in parts)
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
            count_rows=self._rows.count_rows,
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
        return Measure(nodes, size, is_list, made if stays else 0.0)

    def _add_product(self, node: exp.Expr, product: float) -> None:
        before = self._products.get(id(node), 0.0)
        if product > before:
            self._products[id(node)] = product
            self.compared += product - before

    def _look(self) -> None:
        self._looks += 1
        if self._looks > _MOST_LOOKS:
            raise TooManyLooks

    # -- columns of queries --------------------------------------------------------------------

    def _measure_column(self, source: Source, name: str) -> Measure:
        self._look()
        if source.renamed:
            # What the query inside calls its outputs tells nothing then: the largest of all.
            name = ""
        if isinstance(source.origin, tuple):
            parts = [self._measure_column(part, name) for part in source.origin]
            return find_largest(parts)
        if isinstance(source.origin, exp.Expr):
            return self._measure_query(source.origin, name)
        return BASE

    def _measure_row(self, source: Source) -> Measure:
        """A whole row: the measure of all its columns together."""
        columns = [self._measure_column(source, name) for name in source.columns]
        return Measure(
            sum(column.nodes for column in columns),
            2 * sum(column.size * (2 if column.is_list else 1) for column in columns),
            made=sum(column.size for column in columns if column.size > COLUMN_BYTES)
            or COLUMN_BYTES,
        )

    def _measure_query(self, query: exp.Expr, name: str) -> Measure:
        """The largest of the query's outputs that may be called ``name``; of all if it is empty."""
        while isinstance(query, exp.Subquery):
            query = query.this
        if (assumed := self._memory.find_assumed(query)) is not None:
            return find_named(assumed, name)
        if id(query) in self._open:
            return BASE
        return self._memory.find_out(
            self._outputs, (id(query), name), lambda: self._measure_anew(query, name)
        )

    def _measure_anew(self, query: exp.Expr, name: str) -> Measure:
        self._open.add(id(query))
        if isinstance(query, exp.SetOperation):
            measure = self._measure_set(query, name)
        elif isinstance(query, exp.Select):
            measure = self._measure_select(query, name)
        else:
            measure = self._measure_rows(query)
        self._open.discard(id(query))
        return measure

    def _measure_rows(self, origin: exp.Expr) -> Measure:
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

    def _measure_set(self, query: exp.SetOperation, name: str) -> Measure:
        step = query.expression
        while isinstance(step, exp.Subquery):
            step = step.this
        inner = step.find_all(exp.Select)
        sources = [source for select in inner for source in self._found.selects.get(id(select), ())]
        if isinstance(step, exp.Select) and any(_reads(source, query) for source in sources):
            columns = self._memory.find_out(
                self._recursions, id(query), lambda: self._follow_recursion(query, step)
            )
            return find_named(columns, name)
        first = self._measure_query(query.this, name)
        # By position, which names do not tell.
        second = self._measure_query(query.expression, "")
        # No planner puts a set operation in the place of its name.
        return find_largest([first, second])._replace(nodes=1.0)

    def _follow_recursion(
        self, query: exp.SetOperation, step: exp.Select
    ) -> list[tuple[str, Measure]]:
        """The columns of a recursive query, a few steps on."""
        names, sizes = _name_columns(query), self._measure_outputs(query.this)
        if sizes is None or len(sizes) != len(step.expressions) or _has_star(step):
            # The text does not tell which is which: all are taken for the largest.
            names, sizes = [], [self._measure_query(query.this, "")]
        names = [*names, *[""] * len(sizes)][: len(sizes)]
        halfway = sizes
        # Queries under way are no recursion here, where this one is taken for what is assumed.
        outer = self._open, self._rows.open
        self._open, self._rows.open = set(), set()
        for step_number in range(_STEPS):
            self._memory.assume(query, list(zip(names, sizes, strict=True)))
            made = self._measure_outputs(step) or []
            if len(made) != len(sizes):
                made = [self._measure_select(step, "")]
            sizes = [find_largest(pair) for pair in zip(sizes, made, strict=True)]
            halfway = sizes if step_number == _STEPS // 2 else halfway
        self._memory.end(query)
        self._open, self._rows.open = outer
        if any(
            last.size > _MOST_STEPPED * before.size
            for last, before in zip(sizes, halfway, strict=True)
        ):
            self.explodes = True
        return list(zip(names, sizes, strict=True))

    def _measure_outputs(self, query: exp.Expr) -> list[Measure] | None:
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

    def _measure_select(self, query: exp.Select, name: str) -> Measure:
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
