"""Stops queries of a few characters that would ask for gigabytes or never end, before they run.

Three kinds can be told from the text: generators of rows and calls that make texts long
(``growing_calls.py``), recursion without a bound (``recursion.py``), and what grows from level to
level of nested queries, which is measured here. What cannot (a join without a condition, a
recursion over data that goes in circles) is left to the estimate of the plan and to the limits.

From level to level grow an expression and a text. Planners put the query below in the place of its
name, so ten levels that each use a name four times are an expression of a million nodes, which is
planned before any time limit looks. A text grows by ``t || t`` ten times over, or ``repeat``.

Each node of an expression has a size: its nodes, with the queries that it names put in their
places, and the bytes of its value. Columns of the database are assumed to have ``COLUMN_BYTES``.
Where the text does not tell, the larger of two answers is taken: functions double their arguments
unless ``allowlists/growth.yaml`` says otherwise. A recursive query is followed for some steps, in
each of which its own columns are what the step before made of them; ``recursion.py`` judges it. The
rows of a query are those of all that it reads from, multiplied.

Limits of cells and results bound what is stored in the database; this is for what a query makes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

from sqlglot import exp

from execution.guard.growing_calls import (
    GENERATORS,
    MOST_ROWS,
    check_arguments,
    check_call,
    check_generator,
    count_generated,
)
from execution.guard.recursion import (
    STEPS,
    check_kept,
    check_recursion,
    check_steps,
    refuse_growth,
    refuse_value,
)
from execution.guard.value_sizes import (
    COLUMN_BYTES,
    NAMES,
    POWERS,
    SMALL_BYTES,
    Size,
    Sizes,
    count_steps,
    find_largest,
    makes_controls,
    measure_cast,
    measure_factor,
    measure_format,
    measure_literal,
    measure_long,
    measure_power,
    merge,
    multiply,
    name_call,
    name_kind,
)
from execution.name_resolution.nodes import find_star
from execution.name_resolution.scopes import Resolution, Source, Unresolved
from execution.parsing.plain_dialect import InfixOperator
from nl2sql.types import Violation

# Nodes that one expression may have when all that it names is put in its place. PostgreSQL takes
# 2.6 s and a gigabyte to plan 260,000.
_MOST_NODES = 20_000
# The most bytes of one value.
_MOST_BYTES = 10_000_000
# The limit on the product of the lengths of two texts of which one is searched for the other,
# summed over a query. PostgreSQL takes a third of a second for so many.
_MOST_COMPARED = 100_000_000.0
# Looks at nodes and columns before a query is refused for how long it takes to measure: about a
# second. What people write needs some hundreds, wide or deep queries some thousands.
_MOST_LOOKS = 100_000
# A table counts as so many rows where what is gathered of it is longer than columns are.
_TABLE_ROWS = 1000.0
_LONG_BYTES = 1000.0
# What one character of a format may become: the name of a month.
_ESCAPED = 12.0

# What JSON writes for a control character: \u0001.
_QUOTED = 6.0
_NUMBER_BYTES = 8.0
# Operators whose operands may be measured in any grouping.
_CHAINED = (exp.Add, exp.Connector, exp.DPipe)
# Return a truth value or a time, however long their arguments are.
_SMALL_NODES = (exp.Predicate, exp.Connector, exp.Not, exp.Interval)


_COLUMN = Size(1.0, COLUMN_BYTES)


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
    # Only PostgreSQL keeps all rows of a recursion.
    kept = rounds if dialect == "postgres" else {}
    measurer = _Measurer(found, kept, _QUOTED if any(map(makes_controls, nodes)) else 2.0)
    for cte in nodes:
        if isinstance(cte, exp.CTE):
            # In their order, so that a recursion that reads another finds it measured.
            measurer.measure_outputs(cte.this)
    for query in nodes:
        if isinstance(query, exp.Query | exp.Values):
            measurer.check(query)
    return None


class _Measurer:
    """Measures the outputs of each query once, or once for each step of what it rests on.

    ``rounds``: how often each recursion of which the database keeps all rows takes its step, by the
    ``id`` of its query; 0 if it follows a key.
    """

    def __init__(self, found: Resolution, rounds: Mapping[int, float], quoted: float) -> None:
        self._found = found
        self._rounds = rounds
        # How many times longer JSON is than the texts in it.
        self._quoted = quoted
        self._looks = 0
        # The sizes of the outputs of queries, by ``id``, in their order; and rows of queries. What
        # a recursive query has while it is followed is assumed.
        self._outputs: dict[int, Sizes] = {}
        self._rows: dict[tuple[int, float], float] = {}
        # The queries that were read while they were being measured: recursive ones.
        self._read: set[int] = set()
        self._compared = 0.0

    def check(self, query: exp.Expr) -> None:
        """Measures all that is in a query. Raises Unresolved."""
        self.measure_outputs(query)
        select = query if isinstance(query, exp.Select) else exp.Select()
        for clause in query.iter_expressions():
            if clause.arg_key != "expressions" and not isinstance(clause, exp.With | exp.Query):
                self._measure(clause, select)

    # -- outputs of queries ---------------------------------------------------------------------

    def measure_outputs(self, query: exp.Expr) -> Sizes:
        """The outputs of a query, in their order as far as known.

        VALUES and a function in FROM are one too, and so is an output that another clause names.
        """
        while isinstance(query, exp.Subquery):
            query = query.this
        key = id(query)
        if key in self._outputs:
            self._read.add(key)
            return self._outputs[key]
        if isinstance(query, exp.SetOperation):
            sizes = self._measure_set(query)
        elif isinstance(query, exp.Select):
            sizes = self._measure_select(query)
        elif isinstance(query, exp.Values):
            rows = [
                [self._measure(cell, exp.Select()) for cell in row] for row in query.expressions
            ]
            sizes = [find_largest(column) for column in zip(*rows, strict=False)]
        elif isinstance(query.parent, exp.Alias | exp.Select):
            sizes = [self._measure(query, query.find_ancestor(exp.Select) or exp.Select())]
        else:
            sizes = [self._measure_function(query)]
        self._outputs[key] = sizes
        return sizes

    def _measure_set(self, query: exp.SetOperation) -> Sizes:
        """Both parts by position; of a recursive one, what it is some steps on."""
        sizes = self.measure_outputs(query.this)
        halfway, key = sizes, id(query)
        known, rows = self._outputs, self._rows
        for step in range(STEPS):
            # What was found out in the step before rests on what was assumed there.
            self._outputs, self._rows = {**known, key: sizes}, dict(rows)
            self._read.discard(key)
            sizes = merge(sizes, self.measure_outputs(query.expression))
            if key not in self._read:
                known, rows, halfway = self._outputs, self._rows, sizes
                break
            halfway = sizes if step == STEPS // 2 else halfway
        else:
            if len(halfway) != len(sizes):
                halfway = [find_largest(halfway)] * len(sizes)
            check_steps(query, sizes, halfway)
        if query.args.get("distinct") and key in self._rounds:
            # The recursion counts for one row in its step. What was known of rows is put back.
            self._rows = {(key, 1.0): 1.0}
            count = partial(self._count, table=1.0)
            check_kept(query, sizes, halfway, self._rounds[key], count)
        self._outputs, self._rows = known, rows
        # No planner puts a set operation in the place of its name.
        return [Size(1.0, size.bytes) for size in sizes]

    def _measure_select(self, query: exp.Select) -> Sizes:
        sizes: list[Size] = []
        for output in query.expressions:
            if find_star(output) is None:
                sizes.append(self._measure(output.unalias(), query))
                continue
            for source in self._found.selects.get(id(query), {}).values():
                sizes += [self._measure_column(source, name) for name in source.columns]
        if any(query.args.get(key) for key in ("group", "distinct", "limit", "offset")):
            # No planner puts such a query in the place of its name.
            sizes = [Size(1.0, size.bytes) for size in sizes]
        return sizes

    def _measure_function(self, call: exp.Expr) -> Size:
        """What a function in FROM gives, or the largest part of what it takes apart."""
        takes_apart = isinstance(call, exp.Unnest | exp.GenerateSeries)
        takes_apart = takes_apart or name_call(call) in NAMES["spreading"]
        parts = call.iter_expressions() if takes_apart else (call,)
        sizes = [self._measure(part, exp.Select()) for part in parts]
        return Size(1.0, find_largest([_COLUMN, *sizes]).bytes)

    def _measure_column(self, source: Source, name: str) -> Size:
        self._look()
        if isinstance(source.origin, tuple):
            sizes = [
                self._measure_column(part, column)
                for part in source.origin
                for column in part.columns
            ]
        elif isinstance(source.origin, exp.Expr):
            sizes = list(self.measure_outputs(source.origin))
        else:
            return _COLUMN
        if len(sizes) == len(source.columns):
            pairs = zip(source.columns, sizes, strict=True)
            sizes = [size for column, size in pairs if column == name]
        return find_largest(sizes or [_COLUMN])

    def _measure_row(self, source: Source) -> Size:
        """A whole row, with its quotes doubled."""
        sizes = [self._measure_column(source, name) for name in source.columns]
        return Size(sum(size.nodes for size in sizes), 2 * measure_long(sizes))

    # -- expressions ----------------------------------------------------------------------------

    def _measure(self, node: exp.Expr, select: exp.Select) -> Size:
        """The expression's size; ``select`` is the query whose rows an aggregate gathers."""
        self._look()
        if isinstance(node, exp.Column):
            source = self._found.origins.get(id(node))
            if source is None:
                return _COLUMN
            name = node.name.lower()
            is_column = name in source.columns
            return self._measure_column(source, name) if is_column else self._measure_row(source)
        if isinstance(node, exp.Query):
            inner = find_largest(self.measure_outputs(node))
            return Size(inner.nodes + 1, inner.bytes)
        if isinstance(node, exp.Literal):
            return Size(1.0, measure_literal(node))
        # A long chain of one operator is measured at once: Python would recurse too deeply.
        is_chain = isinstance(node, _CHAINED)
        children = list(node.flatten() if is_chain else node.iter_expressions())
        parts = [self._measure(child, select) for child in children]
        operators = max(len(parts) - 1, 1) if is_chain else 1
        nodes = operators + sum(part.nodes for part in parts)
        sizes = [part.bytes for part in parts]
        size = self._measure_value(node, sizes, select)
        self._compared += count_steps(node, sizes, size)
        if nodes > _MOST_NODES:
            raise refuse_growth(
                node,
                "With the queries below it put in their places, an expression is too large.",
            )
        if size > _MOST_BYTES:
            raise refuse_value(node)
        if self._compared > _MOST_COMPARED:
            raise refuse_growth(
                node,
                "Long texts or lists are searched for one another here, or numbers of many "
                "digits computed, which could take far too long.",
            )
        return Size(nodes, size)

    def _measure_value(self, node: exp.Expr, sizes: Sequence[float], select: exp.Select) -> float:
        """The bytes that ``node`` makes of its operands or arguments, whose bytes are ``sizes``."""
        largest, together = max(sizes, default=0.0), sum(sizes)
        name = name_kind(node)
        doubled = self._quoted if "json" in name else 2.0
        if isinstance(node, exp.All | exp.Any):
            # LIKE ANY (list): an operand, however much it looks like a condition.
            return largest
        if isinstance(node, _SMALL_NODES) or name in NAMES["small"]:
            return SMALL_BYTES
        if isinstance(node, exp.Replace | exp.RegexpReplace):
            is_constant = isinstance(node.args.get("replacement"), exp.Literal | None)
            return largest * measure_factor(node) if is_constant else multiply(sizes)
        if isinstance(node, exp.Repeat | exp.Pad):
            return largest * measure_factor(node)
        if name in NAMES["multiplying"] or isinstance(node, exp.WithinGroup):
            # Any one of them as often as the others have parts.
            return (largest + 1) * (together + len(sizes))
        if isinstance(node, exp.GenerateSeries):
            return count_generated(node) * _NUMBER_BYTES
        if (measured := measure_format(node)) is not None:
            return largest * measured[0] + measured[1]
        if name in NAMES["escaping"]:
            # Columns are no formats.
            return largest * (_ESCAPED if largest > 2 * COLUMN_BYTES else 2.0)
        if name in NAMES["gathering"]:
            return doubled * together * self._count_rows(select, largest)
        if name == "array":
            # ARRAY(SELECT …), a value for each row.
            queries = [query for query in node.expressions if isinstance(query, exp.Query)]
            rows = sum(self._count_rows(query, largest) for query in queries)
            return 2 * together * max(rows, 1.0)
        if name in POWERS:
            return measure_power(node, sizes)
        if isinstance(node, exp.Cast):
            return measure_cast(node, largest)
        if isinstance(node, exp.DPipe | exp.Mul | InfixOperator):
            return max(together, SMALL_BYTES)
        if isinstance(node, exp.Func | exp.Tuple) and name not in NAMES["keeping"]:
            return max(together * doubled, SMALL_BYTES)
        return max(largest, SMALL_BYTES)

    # -- rows -----------------------------------------------------------------------------------

    def _count_rows(self, query: exp.Expr, size: float) -> float:
        """How many rows a query may have, of which values of that size are gathered.

        All its sources are multiplied; conditions are not looked at, so a table counts for 1 row
        unless the values are long.
        """
        return max(self._count(query, _TABLE_ROWS if size > _LONG_BYTES else 1.0), 1.0)

    def _count(self, query: exp.Expr, table: float) -> float:
        while isinstance(query, exp.Subquery):
            query = query.this
        key = id(query), table
        if key not in self._rows:
            # For a recursion that meets itself, of which all that is known is its bound.
            self._rows[key] = float(MOST_ROWS)
            self._rows[key] = self._count_anew(query, table)
        return self._rows[key]

    def _count_anew(self, query: exp.Expr, table: float) -> float:
        if isinstance(query, exp.SetOperation):
            return self._count(query.this, table) + self._count(query.expression, table)
        count = 1.0
        if isinstance(query, exp.Select):
            for source in self._found.selects.get(id(query), {}).values():
                count *= self._count_source(source, query, table)
            for output in query.expressions:
                calls = (self._count_call(call, query) for call in output.find_all(exp.Func))
                count *= max(calls, default=1.0)
        return count

    def _count_source(self, source: Source, query: exp.Select, table: float) -> float:
        origin = source.origin
        if isinstance(origin, tuple):
            return math.prod(self._count_source(part, query, table) for part in origin)
        if isinstance(origin, exp.Query):
            return self._count(origin, table)
        if isinstance(origin, exp.Values):
            return float(len(origin.expressions))
        if isinstance(origin, exp.Expr):
            return self._count_call(origin, query)
        return table if source.table is not None else 1.0

    def _count_call(self, call: exp.Expr, query: exp.Select) -> float:
        """How many rows a function gives at most: one for each byte of what it takes apart."""
        if isinstance(call, GENERATORS):
            return count_generated(call)
        if not isinstance(call, exp.Unnest) and name_call(call) not in NAMES["spreading"]:
            return 1.0
        return max(1.0, *(self._measure(part, query).bytes for part in call.expressions), 1.0)

    def _look(self) -> None:
        self._looks += 1
        if self._looks > _MOST_LOOKS:
            raise Unresolved(
                "too_much_text",
                "",
                "Its queries depend on one another in too many ways: use fewer recursive queries.",
            )
