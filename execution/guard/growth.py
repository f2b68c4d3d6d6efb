"""How large a query's expressions and texts can become, told from its text.

Two things grow from level to level of nested queries while the SQL stays short. An expression:
planners put the query below in the place of its name, so ten levels that each use a name four times
are an expression of a million nodes, which is planned before any time limit looks. And a text:
``t || t`` ten times over, ``repeat``, an aggregate over generated rows.

Bytes of the database's own columns are assumed, not known: that estimate is for texts made out of
nothing, and limits of cells and results are for the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from sqlglot import exp

from execution.fragments import quote_fragment
from execution.guard.growth_glance import (
    ARITHMETIC,
    COLUMN_BYTES,
    KEEPING_NODES,
    MOST_BYTES,
    MOST_COMPARED,
    ROWS,
    SMALL_NODES,
    compares,
    computes,
    is_small,
)
from execution.guard.measured_functions import (
    COMPOSING,
    DRAWING,
    FACTORIALS,
    FILLING,
    FORMATTING,
    GATHERING,
    INDENTING,
    JOINING,
    KEEPING,
    MOST_DIGITS,
    MOST_DRAWN,
    MOST_FACTORIAL,
    MOST_FILLED,
    MULTIPLYING,
    POWERS,
    SMALL,
    SPREADING,
    measure_format,
    measure_literal,
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
# Digits of a power whose exponent is no constant, and of a number that is put together as text:
# PostgreSQL takes 0.2 s for 100,000, so that a few such do no harm.
_UNKNOWN_DIGITS = 30_000.0
# A recursive query is followed for so many steps. Over the second half of them, what adds a piece
# at each becomes at most twice as long; what doubles, sixteen times.
_STEPS = 10
_MOST_STEPPED = 4.0
# Looks at nodes and columns before a query is refused for how long it takes to measure: about a
# second. What people write needs some hundreds, wide or deep queries some thousands.
_MOST_LOOKS = 100_000

# What is written with brackets and commas, and with quotes doubled, when it becomes text.
_NESTED = (*ROWS, exp.Anonymous, exp.Cast)
# Numbers whose digits do not grow, unlike those of PostgreSQL's numeric.
_FIXED_TYPES = exp.DataType.INTEGER_TYPES | exp.DataType.FLOAT_TYPES
# A table counts as so many rows when what is gathered of it was made longer than its columns are.
_TABLE_ROWS = 1000.0
_LONG_BYTES = 1000.0


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Measure(NamedTuple):
    """Nodes of an expression, bytes of its value, and whether that is a list.

    A list has its quotes doubled once more by what makes a text of it, or puts it into another.
    ``made`` is what was made longer of a whole row's columns, 0 for what is no row.
    """

    nodes: float
    size: float
    is_list: bool = False
    made: float = 0.0


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
    text or a number (infinitely, where a power's exponent is no constant), ``rows`` how many rows a
    generator makes.
    """
    if is_small(nodes, found):
        return None
    try:
        return _find_growth(nodes, _Measurer(found, factor, rows))
    except _TooManyLooks:
        return Violation(
            "too_much_text",
            "",
            "Its queries depend on one another in too many ways: use fewer recursive queries.",
        )


def _find_growth(nodes: Sequence[exp.Expr], measurer: _Measurer) -> Violation | None:
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


class _TooManyLooks(Exception):
    """Measuring takes too long."""


class _Steps(NamedTuple):
    """A step of a recursive query: its number among all steps, and each column as it is taken."""

    number: int
    columns: Sequence[tuple[str, Measure]]


class _Known(NamedTuple, Generic[_Value]):
    """What was found out, and the steps of recursive queries (by ``id``) on which that rests."""

    value: _Value
    steps: dict[int, int]


class _Measurer:
    """Measures each output of each query once, or once for each step of what it rests on."""

    def __init__(
        self,
        found: Resolution,
        factor: Callable[[exp.Expr], float],
        rows: Callable[[exp.Expr], float],
    ) -> None:
        # Recursive queries that are followed just now, by their ``id``.
        self._assumed: dict[int, _Steps] = {}
        self._steps = 0
        self._looks = 0
        # The steps on which what is measured just now has turned out to rest.
        self._rests_on: dict[int, int] = {}
        self._found = found
        self._factor = factor
        self._generated = rows
        self._listed: dict[int, tuple[dict[str, list[exp.Expr]], list[exp.Star]]] = {}
        self._outputs: dict[tuple[int, str], _Known[Measure]] = {}
        self._rows: dict[tuple[int, float], _Known[float]] = {}
        self._recursions: dict[int, _Known[list[tuple[str, Measure]]]] = {}
        # Queries under way: meeting one of them again is a recursion.
        self._open: set[int] = set()
        self._counted: set[tuple[int, float]] = set()
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
                return _BASE
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
        quotes = 1 if _gives_back(node) or name_call(node) in MULTIPLYING else 2
        sizes = [part.size * quotes if part.is_list else part.size for part in parts]
        if compares(node):
            self._add_product(node, _multiply(node, children, sizes))
        made = max(
            (part.made or size for part, size in zip(parts, sizes, strict=True)), default=0.0
        )
        size = self._measure_size(node, children, sizes, select, made)
        if computes(node):
            largest = max(sizes, default=0.0)
            # Times itself: a power that is too large for a float is an error.
            product = _multiply(node, children, sizes) or largest * largest
            self._add_product(node, product * ARITHMETIC)
        elif _is_power(node):
            self._add_product(node, size * size * ARITHMETIC)
        self.explodes = self.explodes or size > MOST_BYTES
        is_list = _makes_list(node) or (_gives_back(node) and any(part.is_list for part in parts))
        # A whole row stays one in an aggregate's ORDER BY or DISTINCT.
        stays = isinstance(node, exp.Order | exp.Ordered | exp.Distinct)
        return Measure(nodes, size, is_list, made if stays else 0.0)

    def _add_product(self, node: exp.Expr, product: float) -> None:
        before = self._products.get(id(node), 0.0)
        if product > before:
            self._products[id(node)] = product
            self.compared += product - before

    def _measure_size(
        self,
        node: exp.Expr,
        children: Sequence[exp.Expr],
        sizes: Sequence[float],
        select: exp.Select,
        made: float,
    ) -> float:
        """The bytes that ``node`` makes of its children, whose bytes are ``sizes``.

        ``made`` is the longest of them, of a whole row what was made longer of its columns.
        """
        largest, together = max(sizes, default=0.0), sum(sizes)
        name = name_call(node)
        if isinstance(node, exp.All | exp.Any):
            # LIKE ANY (list): an operand, however much it looks like a condition.
            return largest
        if isinstance(node, exp.Order) and isinstance(node.this, exp.Expr):
            # What an aggregate takes, in an order that is no part of its value.
            return _pick_size(node.this, children, sizes)
        if isinstance(node, SMALL_NODES) or name in SMALL:
            return _OTHER_BYTES
        if isinstance(node, exp.Replace | exp.RegexpReplace):
            new = node.args.get("replacement")
            if isinstance(new, exp.Expr) and not isinstance(new, exp.Literal):
                return largest * _pick_size(new, children, sizes)
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
            return together * max(self._count_rows(select, _rows_of_table(made)), 1.0)
        if name == "array":
            # ARRAY(SELECT …), a value for each row. ARRAY[(SELECT …)] has one for each query.
            queries = [each for each in node.expressions if isinstance(each, exp.Query)]
            rows = sum(self._count_rows(each, _rows_of_table(largest)) for each in queries)
            return together * max(rows, 1.0)
        if _is_power(node):
            # The exponent's own length is nothing to the result's.
            base = sizes[0] if sizes else 0.0
            digits = min(base, _OTHER_BYTES) if base <= COLUMN_BYTES else base
            if math.isinf(factor := self._factor(node)):
                return max(base, _UNKNOWN_DIGITS)
            return max(min(digits * factor, MOST_DIGITS), _OTHER_BYTES)
        if name in FACTORIALS:
            return MOST_FACTORIAL
        if isinstance(node, exp.Mul):
            return max(together, _OTHER_BYTES)
        if isinstance(node, exp.Cast) and node.to.this in _FIXED_TYPES:
            return _OTHER_BYTES
        if isinstance(node, exp.Cast) and node.to.this in exp.DataType.REAL_TYPES:
            inner = node.this.unnest()
            if (
                isinstance(inner, exp.DPipe | exp.Overlay | exp.Replace)
                or name_call(inner) in COMPOSING
            ):
                return max(largest, _UNKNOWN_DIGITS)
        if isinstance(node, exp.Cast):
            return largest * 2 if isinstance(node.this.unnest(), _NESTED) else largest
        if isinstance(node, exp.DPipe | exp.Array):
            return together
        keeps = isinstance(node, KEEPING_NODES) or name in KEEPING
        if isinstance(node, exp.Func | exp.Tuple) and not keeps:
            # One without arguments gives something all the same: now().
            return max(together * 2, _OTHER_BYTES)
        return max(largest, _OTHER_BYTES)

    def _look(self) -> None:
        self._looks += 1
        if self._looks > _MOST_LOOKS:
            raise _TooManyLooks

    def _find_out(
        self, known: dict[_Key, _Known[_Value]], key: _Key, find: Callable[[], _Value]
    ) -> _Value:
        """What is known already and rests on no step but those under way, or what is found now."""
        found = known.get(key)
        if found is None or not self._still_holds(found):
            outer, self._rests_on = self._rests_on, {}
            value = find()
            # Steps of a recursion that has been followed to its end meanwhile are no matter.
            steps = {each: at for each, at in self._rests_on.items() if each in self._assumed}
            found = known[key] = _Known(value, steps)
            self._rests_on = outer
        self._rests_on.update(found.steps)
        return found.value

    def _still_holds(self, known: _Known[Any]) -> bool:
        return all(
            each in self._assumed and self._assumed[each].number == at
            for each, at in known.steps.items()
        )

    # -- columns of queries --------------------------------------------------------------------

    def _measure_column(self, source: Source, name: str) -> Measure:
        self._look()
        if source.renamed:
            # What the query inside calls its outputs tells nothing then: the largest of all.
            name = ""
        if isinstance(source.origin, tuple):
            parts = [self._measure_column(part, name) for part in source.origin]
            return _find_largest(parts)
        if isinstance(source.origin, exp.Expr):
            return self._measure_query(source.origin, name)
        return _BASE

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
        if (assumed := self._assumed.get(id(query))) is not None:
            self._rests_on[id(query)] = assumed.number
            return _find_named(assumed.columns, name)
        if id(query) in self._open:
            return _BASE
        return self._find_out(
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
            measures = [self.measure(each, exp.Select())._replace(nodes=1.0) for each in parts]
        else:
            cells = (each for row in origin.expressions for each in row.expressions)
            measures = [self.measure(each, exp.Select()) for each in cells]
        return _find_largest([_BASE, *measures])

    def _measure_set(self, query: exp.SetOperation, name: str) -> Measure:
        step = query.expression
        while isinstance(step, exp.Subquery):
            step = step.this
        inner = step.find_all(exp.Select)
        sources = [source for each in inner for source in self._found.selects.get(id(each), ())]
        if isinstance(step, exp.Select) and any(_reads(source, query) for source in sources):
            columns = self._find_out(
                self._recursions, id(query), lambda: self._follow_recursion(query, step)
            )
            return _find_named(columns, name)
        first = self._measure_query(query.this, name)
        # By position, which names do not tell.
        second = self._measure_query(query.expression, "")
        # No planner puts a set operation in the place of its name.
        return _find_largest([first, second])._replace(nodes=1.0)

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
        outer = self._open, self._counted
        self._open, self._counted = set(), set()
        for step_number in range(_STEPS):
            self._steps += 1
            columns = list(zip(names, sizes, strict=True))
            self._assumed[id(query)] = _Steps(self._steps, columns)
            made = self._measure_outputs(step) or []
            if len(made) != len(sizes):
                made = [self._measure_select(step, "")]
            sizes = [_find_largest(pair) for pair in zip(sizes, made, strict=True)]
            halfway = sizes if step_number == _STEPS // 2 else halfway
        del self._assumed[id(query)]
        self._open, self._counted = outer
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
            return [_find_largest(pair) for pair in zip(first, second, strict=True)]
        if not isinstance(query, exp.Select) or _has_star(query):
            return None
        return [self.measure(each.unalias(), query) for each in query.expressions]

    def _measure_select(self, query: exp.Select, name: str) -> Measure:
        outputs, stars = self._list_outputs(query)
        named = outputs.get(name, []) if name else []
        # Where none is called so, it may be any.
        meant = named or [each for same in outputs.values() for each in same]
        parts = [self.measure(each.unalias(), query) for each in meant]
        sources = self._found.selects.get(id(query), ())
        for star in stars:
            # Of two outputs of one name, the one that a star gives may be the one meant.
            parts += [
                self._measure_column(source, name)
                for source in sources
                if not named or name in source.columns
            ]
            replaced = list_replacements(star)
            called = [each for each in replaced if each.alias.lower() == name] or replaced
            parts += [self.measure(each.this, query) for each in called]
        measure = _find_largest(parts)
        stays = any(query.args.get(key) for key in ("group", "distinct", "limit", "offset"))
        return measure._replace(nodes=1.0) if stays else measure

    def _list_outputs(self, query: exp.Select) -> tuple[dict[str, list[exp.Expr]], list[exp.Star]]:
        """The outputs of a query by their names, and the stars among them."""
        found = self._listed.get(id(query))
        if found is None:
            outputs: dict[str, list[exp.Expr]] = {}
            stars = []
            for each in query.expressions:
                if (star := find_star(each)) is not None:
                    stars.append(star)
                else:
                    outputs.setdefault(each.alias_or_name.lower(), []).append(each)
            found = self._listed[id(query)] = outputs, stars
        return found

    # -- rows ----------------------------------------------------------------------------------

    def _count_rows(self, query: exp.Expr, table: float) -> float:
        """How many rows a query may have, all its sources multiplied; one of ``table`` rows each.

        Conditions are not looked at, so a table counts for 1 unless it matters.
        """
        while isinstance(query, exp.Subquery):
            query = query.this
        key = (id(query), table)
        if key in self._counted:
            # A recursion that meets itself: all that is known of its rows is its own bound.
            return self._generated(query)
        return self._find_out(self._rows, key, lambda: self._count_anew(query, table))

    def _count_anew(self, query: exp.Expr, table: float) -> float:
        self._counted.add((id(query), table))
        count = 1.0
        if isinstance(query, exp.SetOperation):
            count = self._count_rows(query.this, table) + self._count_rows(query.expression, table)
        elif isinstance(query, exp.Select):
            for source in self._found.selects.get(id(query), ()):
                count *= self._count_source(source, query, table)
            for output in query.expressions:
                calls = (self._count_call(each, query) for each in output.find_all(exp.Func))
                count *= max(calls, default=1.0)
        self._counted.discard((id(query), table))
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
            sizes = [self.measure(each, query).size for each in origin.expressions]
            return max(1.0, *sizes)
        if isinstance(origin, exp.Expr):
            return self._count_call(origin, query)
        return table if source.table is not None else 1.0

    def _count_call(self, call: exp.Expr, query: exp.Select) -> float:
        """How many rows a function gives at most: one for each byte of what it takes apart."""
        if name_call(call) not in SPREADING:
            return self._generated(call)
        return max(1.0, *(self.measure(each, query).size for each in call.expressions), 1.0)


def _is_power(node: exp.Expr) -> bool:
    return isinstance(node, exp.Pow) or name_call(node) in POWERS


def _multiply(node: exp.Expr, children: Sequence[exp.Expr], sizes: Sequence[float]) -> float:
    """The product of the sizes of the first two operands or arguments."""
    if isinstance(node, exp.Anonymous):
        operands = node.expressions[:2]
    else:
        operands = [node.this, node.args.get("expression") or node.args.get("substr")]
    found = [
        size
        for child, size in zip(children, sizes, strict=True)
        if any(child is each for each in operands)
    ]
    return found[0] * found[1] if len(found) == 2 else 0.0


def _pick_size(part: exp.Expr, children: Sequence[exp.Expr], sizes: Sequence[float]) -> float:
    """The size of that one of the children."""
    return sizes[next(at for at, child in enumerate(children) if child is part)]


def _rows_of_table(size: float) -> float:
    return _TABLE_ROWS if size > _LONG_BYTES else 1.0


def _find_largest(parts: Sequence[Measure]) -> Measure:
    return Measure(
        max((part.nodes for part in parts), default=1.0),
        max((part.size for part in parts), default=COLUMN_BYTES),
        any(part.is_list for part in parts),
    )


def _find_named(columns: Sequence[tuple[str, Measure]], name: str) -> Measure:
    """The column of that name; the largest of all if none is called so."""
    named = [measure for each, measure in columns if name and each == name]
    return _find_largest(named or [measure for _, measure in columns])._replace(nodes=1.0)


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
    return any(find_star(each) is not None for each in query.expressions)


def _makes_list(node: exp.Expr) -> bool:
    name = name_call(node)
    return isinstance(node, exp.Array) or name == "array" or name in GATHERING - JOINING


def _gives_back(node: exp.Expr) -> bool:
    """Whether the node's value may be that of a part of it, as it is."""
    if name := name_call(node):
        return name in KEEPING or name in JOINING
    if isinstance(node, exp.Func | exp.DPipe | exp.Tuple):
        return isinstance(node, KEEPING_NODES)
    return True
