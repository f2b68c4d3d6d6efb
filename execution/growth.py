"""How large a query's expressions and texts can become, told from its text.

Two things grow from level to level of nested queries while the SQL stays short. An expression:
planners put the query below in the place of its name, so ten levels that each use a name four times
are an expression of a million nodes, which is planned before any time limit looks. And a text:
``t || t`` ten times over, ``repeat``, an aggregate over generated rows.

Bytes of the database's own columns are assumed, not known: that estimate is for texts made out of
nothing, and limits of cells and results are for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from sqlglot import exp

from execution.fragments import quote_fragment
from execution.growth_glance import (
    COLUMN_BYTES,
    KEEPING_NODES,
    MOST_BYTES,
    SMALL_NODES,
    is_small,
)
from execution.measured_functions import (
    DRAWING,
    FILLING,
    FORMATTING,
    GATHERING,
    INDENTING,
    KEEPING,
    MOST_DRAWN,
    MOST_FILLED,
    MULTIPLYING,
    SMALL,
    SPREADING,
    measure_format,
    name_call,
)
from execution.name_resolution.scopes import Resolution, Source
from execution.name_resolution.stars import find_star, list_replacements
from nl2sql.types import Violation

# Nodes that one expression may have when all that it names is put in its place. PostgreSQL takes
# 2.6 s and a gigabyte to plan 260,000.
_MOST_NODES = 20_000
_OTHER_BYTES = 20.0
_NUMBER_BYTES = 8.0
# A recursive query is followed for so many steps. Over the second half of them, what adds a piece
# at each becomes at most twice as long; what doubles, sixteen times.
_STEPS = 10
_MOST_STEPPED = 4.0

# What is written with brackets and commas, and with quotes doubled, when it becomes text.
_NESTED = (exp.Array, exp.Tuple, exp.Struct, exp.Anonymous, exp.Cast, exp.Column)
# A table counts as so many rows when what is gathered of it was made longer than its columns are.
_TABLE_ROWS = 1000.0
_LONG_BYTES = 1000.0


class Measure(NamedTuple):
    """Nodes of an expression, and bytes of its value."""

    nodes: float
    size: float


_BASE = Measure(1.0, COLUMN_BYTES)


def find_growth(
    nodes: Sequence[exp.Expr],
    found: Resolution,
    *,
    factor: Callable[[exp.Expr], float],
    rows: Callable[[exp.Expr], float],
) -> Violation | None:
    """Why the query could explode, or None.

    ``nodes`` are all of its tree; ``factor`` tells how many times longer a function may make a
    text, ``rows`` how many rows a generator makes.
    """
    if is_small(nodes, found):
        return None
    measurer = _Measurer(found, factor, rows)
    for node in nodes:
        clauses = _list_clauses(node)
        query = node if isinstance(node, exp.Query) else node.find_ancestor(exp.Select) or node
        for clause in clauses:
            measure = measurer.measure(clause, query)
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
                    "A text made here could become far too long.",
                )
    return None


def _list_clauses(node: exp.Expr) -> list[exp.Expr]:
    """What is computed in a node, without what is in queries and FROM, which are nodes too."""
    if isinstance(node, exp.Select):
        return [
            each for each in node.iter_expressions() if not isinstance(each, exp.With | exp.From)
        ]
    found: list[exp.Expr | None] = []
    if isinstance(node, exp.SetOperation | exp.Subquery):
        found = [node.args.get(key) for key in ("order", "limit", "offset")]
    elif isinstance(node, exp.Values | exp.Unnest):
        found = list(node.expressions)
    elif isinstance(node, exp.Table | exp.Lateral) and isinstance(node.this, exp.Func):
        found = [node.this]
    elif isinstance(node, exp.Join) and not isinstance(node.parent, exp.Select):
        found = [node.args.get("on")]
    return [each for each in found if each is not None]


class _Measurer:
    """Measures each output of each query once."""

    def __init__(
        self,
        found: Resolution,
        factor: Callable[[exp.Expr], float],
        rows: Callable[[exp.Expr], float],
        assumed: Mapping[int, Mapping[str, float]] = MappingProxyType({}),
    ) -> None:
        """``assumed``: query, by its ``id`` → column → the bytes to take it for."""
        self._assumed = assumed
        self._found = found
        self._factor = factor
        self._generated = rows
        self._outputs: dict[tuple[int, str], Measure] = {}
        self._rows: dict[tuple[int, float], float] = {}
        # Queries under way: meeting one of them again is a recursion.
        self._open: set[int] = set()
        # Whether any value on the way, however small what is made of it, is too long.
        self.explodes = False

    def measure(self, node: exp.Expr, select: exp.Expr) -> Measure:
        """The expression's measure; ``select`` is the query whose rows an aggregate gathers."""
        if isinstance(node, exp.Column) and not node.is_star:
            source = self._found.origins.get(id(node))
            if source is None:
                return _BASE
            name = node.name.lower()
            if name not in source.columns:
                return self._measure_row(source)
            return self._measure_column(source, name)
        if isinstance(node, exp.Query):
            inner = self._measure_query(node, "")
            return Measure(inner.nodes + 1, inner.size)
        if isinstance(node, exp.Literal):
            return Measure(1.0, float(len(node.name)))
        parts = [self.measure(child, select) for child in node.iter_expressions()]
        nodes = 1 + sum(part.nodes for part in parts)
        size = self._measure_size(node, [part.size for part in parts], select)
        self.explodes = self.explodes or size > MOST_BYTES
        return Measure(nodes, size)

    def _measure_size(self, node: exp.Expr, sizes: list[float], select: exp.Expr) -> float:
        largest, together = max(sizes, default=0.0), sum(sizes)
        name = name_call(node)
        if isinstance(node, SMALL_NODES) or name in SMALL:
            return _OTHER_BYTES
        if isinstance(node, exp.Replace | exp.RegexpReplace):
            new = node.args.get("replacement")
            if isinstance(new, exp.Expr) and not isinstance(new, exp.Literal):
                return largest * self.measure(new, select).size
            return largest * self._factor(node)
        if isinstance(node, exp.Repeat | exp.Pad):
            return largest * self._factor(node)
        if name in MULTIPLYING or isinstance(node, exp.WithinGroup):
            # Any one of them as often as the others have parts.
            return (largest + 1) * (together + len(sizes))
        if isinstance(node, exp.GenerateSeries):
            return self._generated(node) * _NUMBER_BYTES
        if name in FILLING:
            return largest * MOST_FILLED
        if name in DRAWING:
            return MOST_DRAWN
        if name in INDENTING:
            return together * max(together, 2.0)
        if name in FORMATTING and (measured := measure_format(node)) is not None:
            return largest * measured[0] + measured[1]
        if name in GATHERING:
            return together * max(self._count_rows(select, _rows_of_table(largest)), 1.0)
        if name == "array" or (isinstance(node, exp.Array) and node.find(exp.Query)):
            # ARRAY(SELECT …), a value for each row.
            queries = [each for each in node.expressions if isinstance(each, exp.Query)]
            rows = [self._count_rows(each, _rows_of_table(largest)) for each in queries]
            return together * max(rows, default=1.0)
        if isinstance(node, exp.Cast):
            return largest * 2 if isinstance(node.this.unnest(), _NESTED[:-1]) else largest
        if isinstance(node, exp.DPipe | exp.Array | exp.Tuple):
            return together
        keeps = isinstance(node, KEEPING_NODES) or name in KEEPING
        if isinstance(node, exp.Func) and not keeps:
            return together * 2
        return max(largest, _OTHER_BYTES)

    # -- columns of queries --------------------------------------------------------------------

    def _measure_column(self, source: Source, name: str) -> Measure:
        if source.renamed:
            # What the query inside calls its outputs tells nothing then: the largest of all.
            name = ""
        if isinstance(source.origin, tuple):
            parts = [self._measure_column(part, name) for part in source.origin]
            return _find_largest(parts)
        if isinstance(source.origin, exp.Query | exp.Values):
            return self._measure_query(source.origin, name)
        if source.origin is None or isinstance(source.origin, exp.GenerateSeries):
            return _BASE
        return self._measure_function(source.origin)

    def _measure_function(self, call: exp.Expr) -> Measure:
        """A column of a function in FROM, whichever it is; no planner puts it elsewhere."""
        key = (id(call), "")
        if key not in self._outputs:
            size = self.measure(call, call.find_ancestor(exp.Select) or call).size
            self._outputs[key] = Measure(1.0, size)
        return self._outputs[key]

    def _measure_row(self, source: Source) -> Measure:
        """A whole row: the measure of all its columns together."""
        columns = [self._measure_column(source, name) for name in source.columns]
        return Measure(
            sum(column.nodes for column in columns), 2 * sum(column.size for column in columns)
        )

    def _measure_query(self, query: exp.Expr, name: str) -> Measure:
        """The largest of the query's outputs that may be called ``name``; of all if it is empty."""
        while isinstance(query, exp.Subquery):
            query = query.this
        key = (id(query), name)
        if key in self._outputs:
            return self._outputs[key]
        if (assumed := self._assumed.get(id(query))) is not None:
            return Measure(1.0, assumed.get(name) or max(assumed.values(), default=COLUMN_BYTES))
        if id(query) in self._open:
            return _BASE
        self._open.add(id(query))
        if isinstance(query, exp.SetOperation):
            measure = self._measure_set(query, name)
        elif isinstance(query, exp.Select):
            measure = self._measure_select(query, name)
        elif isinstance(query, exp.Values):
            # By position, which names do not tell.
            parts = [
                self.measure(each, query) for row in query.expressions for each in row.expressions
            ]
            measure = _find_largest(parts)
        else:
            measure = _BASE
        self._open.discard(id(query))
        self._outputs[key] = measure
        return measure

    def _measure_set(self, query: exp.SetOperation, name: str) -> Measure:
        step = query.expression
        while isinstance(step, exp.Subquery):
            step = step.this
        sources = self._found.selects.get(id(step), ())
        if isinstance(step, exp.Select) and any(source.origin is query for source in sources):
            sizes = self._follow_recursion(query, step)
            return Measure(1.0, sizes.get(name) or max(sizes.values(), default=COLUMN_BYTES))
        first = self._measure_query(query.this, name)
        # By position, which names do not tell.
        second = self._measure_query(query.expression, "")
        # No planner puts a set operation in the place of its name.
        return Measure(1.0, max(first.size, second.size))

    def _follow_recursion(self, query: exp.SetOperation, step: exp.Select) -> dict[str, float]:
        """The bytes of the columns of a recursive query, a few steps on."""
        base = query.this
        while not isinstance(base, exp.Select):
            base = base.this
        clause = query.parent
        renamed = clause.args["alias"].columns if isinstance(clause, exp.CTE) else ()
        names = [column.name.lower() for column in renamed]
        names = names or [output.alias_or_name.lower() for output in base.expressions]
        sizes = {
            column: self.measure(output.unalias(), base).size
            for column, output in zip(names, base.expressions, strict=False)
        }
        halfway = sizes
        for step_number in range(_STEPS):
            inner = _Measurer(
                self._found, self._factor, self._generated, {**self._assumed, id(query): sizes}
            )
            made = [inner.measure(each.unalias(), step).size for each in step.expressions]
            self.explodes = self.explodes or inner.explodes
            sizes = {
                column: max(sizes[column], size) for column, size in zip(sizes, made, strict=False)
            }
            halfway = sizes if step_number == _STEPS // 2 else halfway
        if any(size > _MOST_STEPPED * halfway[column] for column, size in sizes.items()):
            self.explodes = True
        return sizes

    def _measure_select(self, query: exp.Expr, name: str) -> Measure:
        outputs = query.expressions
        named = [each for each in outputs if each.alias_or_name.lower() == name] if name else []
        parts = [self.measure(each.unalias(), query) for each in named]
        sources = self._found.selects.get(id(query), ())
        for each in outputs:
            if (star := find_star(each)) is not None:
                # Of two outputs of one name, the one that a star gives may be the one meant.
                parts += [
                    self._measure_column(source, name)
                    for source in sources
                    if not named or name in source.columns
                ]
                replaced = list_replacements(star)
                meant = [each for each in replaced if each.alias.lower() == name] or replaced
                parts += [self.measure(each.this, query) for each in meant]
            elif not named:
                parts.append(self.measure(each.unalias(), query))
        measure = _find_largest(parts)
        stays = any(query.args.get(key) for key in ("group", "distinct", "limit", "offset"))
        return Measure(1.0, measure.size) if stays else measure

    # -- rows ----------------------------------------------------------------------------------

    def _count_rows(self, query: exp.Expr, table: float) -> float:
        """How many rows a query may have, all its sources multiplied; one of ``table`` rows each.

        Conditions are not looked at, so a table counts for 1 unless it matters.
        """
        while isinstance(query, exp.Subquery):
            query = query.this
        key = (id(query), table)
        if key in self._rows:
            return self._rows[key]
        # For a recursion that meets itself: all that is known of its rows is its own bound.
        self._rows[key] = self._generated(query)
        count = 1.0
        if isinstance(query, exp.SetOperation):
            count = self._count_rows(query.this, table) + self._count_rows(query.expression, table)
        elif isinstance(query, exp.Select):
            for source in self._found.selects.get(id(query), ()):
                count *= self._count_source(source, query, table)
            for output in query.expressions:
                calls = (self._count_call(each, query) for each in output.find_all(exp.Func))
                count *= max(calls, default=1.0)
        self._rows[key] = count
        return count

    def _count_source(self, source: Source, query: exp.Expr, table: float) -> float:
        origin = source.origin
        if isinstance(origin, tuple):
            count = 1.0
            for part in origin:
                count *= self._count_source(part, query, table)
            return count
        if isinstance(origin, exp.Query):
            return self._count_rows(origin, table)
        if isinstance(origin, exp.Unnest):
            sizes = [self.measure(each, query).size for each in origin.expressions]
            return max(1.0, *sizes)
        if isinstance(origin, exp.Expr):
            return self._count_call(origin, query)
        return table if source.table is not None else 1.0

    def _count_call(self, call: exp.Expr, query: exp.Expr) -> float:
        """How many rows a function gives at most: one for each byte of what it takes apart."""
        if name_call(call) not in SPREADING:
            return self._generated(call)
        return max(1.0, *(self.measure(each, query).size for each in call.expressions), 1.0)


def _rows_of_table(size: float) -> float:
    return _TABLE_ROWS if size > _LONG_BYTES else 1.0


def _find_largest(parts: list[Measure]) -> Measure:
    return Measure(
        max((part.nodes for part in parts), default=1.0),
        max((part.size for part in parts), default=COLUMN_BYTES),
    )
