"""How many bytes one node of an expression makes of its operands or arguments.

Bytes of the database's own columns are assumed, not known: the estimate is for texts made out of
nothing, and limits of cells and results are for the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sqlglot import exp

from execution.guard.growing_calls import count_generated, measure_factor, read_number
from execution.guard.measured_functions import (
    COMPARING,
    COMPOSING,
    DIVIDING,
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
    measure_format,
    name_call,
)
from execution.parsing.plain_dialect import InfixOperator
from nl2sql.sql.parsing import MOST_CHARS

# The most bytes of one text, and the bytes that are assumed for a column's.
MOST_BYTES = 10_000_000
COLUMN_BYTES = 100.0
# The limit on the product of the lengths of two texts of which one is searched for the other,
# summed over a query. PostgreSQL takes a third of a second for so many.
MOST_COMPARED = 100_000_000.0
# The weight of a product of digits in this sum: arithmetic is quicker.
ARITHMETIC = 0.01

# Return a truth value or a time, however long their arguments are.
SMALL_NODES = (exp.Predicate, exp.Connector, exp.Not, exp.Interval)
# Return one of their arguments, or a part of it. All others are assumed to double it.
KEEPING_NODES = (
    exp.Between,
    exp.Case,
    exp.CurrentDate,
    exp.CurrentTimestamp,
    exp.Extract,
    exp.If,
    exp.StrPosition,
    exp.Substring,
    exp.Trim,
)
# Compare every part of one operand with every part of the other.
COMPARING_NODES = (
    exp.ArrayContainedBy,
    exp.ArrayContainsAll,
    exp.ArrayOverlaps,
    exp.Glob,
    exp.ILike,
    exp.Like,
    exp.RegexpILike,
    exp.RegexpLike,
    exp.Replace,
    exp.SimilarTo,
    exp.StrPosition,
    # Also removes an array of keys from a JSON document.
    exp.Sub,
    exp.Trim,
    # Any operator that is not known: !~, ~~, the distance of two texts.
    InfixOperator,
)
ARITHMETIC_NODES = (exp.Div, exp.IntDiv, exp.Mod, exp.Mul)
# Rows, which double the quotes of their texts when they become text.
ROWS = (exp.Struct, exp.Tuple)
_PADDED = frozenset((exp.DType.BIT, exp.DType.BPCHAR, exp.DType.CHAR, exp.DType.NCHAR))


def measure_padding(node: exp.Expr) -> float:
    """The length to which a cast fills up its value, ``char(9)`` or ``bit(9)``; 0 for others.

    That of an array is the sum over as many elements as a query can write.
    """
    if not isinstance(node, exp.Cast):
        return 0.0
    kind, elements = node.to, 1.0
    while kind.this == exp.DType.ARRAY and kind.expressions:
        kind, elements = kind.expressions[0], MOST_CHARS / 2
    if kind.this not in _PADDED:
        return 0.0
    longest = max((read_number(length.this) or 0.0 for length in kind.expressions), default=0.0)
    return longest * elements


def compares(node: exp.Expr) -> bool:
    """Whether the node's cost may be the product of the lengths of two texts or lists."""
    return isinstance(node, COMPARING_NODES) or name_call(node) in COMPARING


def computes(node: exp.Expr) -> bool:
    """Whether the node's cost may be the product of the digits of two numbers."""
    return isinstance(node, ARITHMETIC_NODES) or name_call(node) in DIVIDING


_OTHER_BYTES = 20.0
_NUMBER_BYTES = 8.0
# Digits of a power whose exponent is no constant, and of a number that is put together as text:
# PostgreSQL takes 0.2 s for 100,000, so that a few such do no harm.
_UNKNOWN_DIGITS = 30_000.0

# What is written with brackets and commas, and with quotes doubled, when it becomes text.
_NESTED = (*ROWS, exp.Anonymous, exp.Cast)
# Numbers whose digits do not grow, unlike those of PostgreSQL's numeric.
_FIXED_TYPES = exp.DataType.INTEGER_TYPES | exp.DataType.FLOAT_TYPES
# A table counts as so many rows when what is gathered of it was made longer than its columns are.
_TABLE_ROWS = 1000.0
_LONG_BYTES = 1000.0


def measure_value(
    node: exp.Expr,
    children: Sequence[exp.Expr],
    sizes: Sequence[float],
    *,
    select: exp.Select,
    made: float,
    count_rows: Callable[[exp.Expr, float], float],
) -> float:
    """The bytes that ``node`` makes of its children, whose bytes are ``sizes``.

    ``made`` is the longest of them, of a whole row what was made longer of its columns.
    ``select`` is the query whose rows an aggregate gathers. ``count_rows`` tells how many rows a
    query has if a table has as many as given.
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
        return largest * measure_factor(node)
    if isinstance(node, exp.Repeat | exp.Pad):
        return largest * measure_factor(node)
    if name in MULTIPLYING or isinstance(node, exp.WithinGroup):
        # Any one of them as often as the others have parts.
        return (largest + 1) * (together + len(sizes))
    if isinstance(node, exp.GenerateSeries):
        return count_generated(node) * _NUMBER_BYTES
    if name in FILLING:
        return largest * MOST_FILLED
    if name in DRAWING:
        return MOST_DRAWN
    if name in INDENTING:
        return together * max(together, 2.0)
    if name in FORMATTING and (measured := measure_format(node)) is not None:
        return largest * measured[0] + measured[1]
    if name in GATHERING:
        return together * max(count_rows(select, _rows_of_table(made)), 1.0)
    if name == "array":
        # ARRAY(SELECT …), a value for each row. ARRAY[(SELECT …)] has one for each query.
        queries = [element for element in node.expressions if isinstance(element, exp.Query)]
        rows = sum(count_rows(query, _rows_of_table(largest)) for query in queries)
        return together * max(rows, 1.0)
    if is_power(node):
        return _measure_power(node, sizes)
    if name in FACTORIALS:
        return MOST_FACTORIAL
    if isinstance(node, exp.Mul):
        return max(together, _OTHER_BYTES)
    if isinstance(node, exp.Cast):
        return _measure_cast(node, largest)
    if isinstance(node, exp.DPipe | exp.Array | InfixOperator):
        return together
    keeps = isinstance(node, KEEPING_NODES) or name in KEEPING
    if isinstance(node, exp.Func | exp.Tuple) and not keeps:
        # One without arguments gives something all the same: now().
        return max(together * 2, _OTHER_BYTES)
    return max(largest, _OTHER_BYTES)


def _measure_power(node: exp.Expr, sizes: Sequence[float]) -> float:
    # The exponent's own length is nothing to the result's.
    base = sizes[0] if sizes else 0.0
    digits = min(base, _OTHER_BYTES) if base <= COLUMN_BYTES else base
    if math.isinf(factor := measure_factor(node)):
        return max(base, _UNKNOWN_DIGITS)
    return max(min(digits * factor, MOST_DIGITS), _OTHER_BYTES)


def _measure_cast(node: exp.Cast, size: float) -> float:
    if (padded := measure_padding(node)) > _OTHER_BYTES:
        return max(size, padded)
    if node.to.this in _FIXED_TYPES:
        return _OTHER_BYTES
    inner = node.this.unnest()
    is_composed = (
        isinstance(inner, exp.DPipe | exp.Overlay | exp.Replace) or name_call(inner) in COMPOSING
    )
    if is_composed and node.to.this in exp.DataType.REAL_TYPES:
        return max(size, _UNKNOWN_DIGITS)
    return size * 2 if isinstance(inner, _NESTED) else size


def is_power(node: exp.Expr) -> bool:
    """Whether the node takes one number to the power of another."""
    return isinstance(node, exp.Pow) or name_call(node) in POWERS


def makes_list(node: exp.Expr) -> bool:
    """Whether the value is a list of what the node is given."""
    name = name_call(node)
    return isinstance(node, exp.Array) or name == "array" or name in GATHERING - JOINING


def gives_back(node: exp.Expr) -> bool:
    """Whether the node's value may be that of a part of it, as it is."""
    if name := name_call(node):
        return name in KEEPING or name in JOINING
    if isinstance(node, exp.Func | exp.DPipe | exp.Tuple):
        return isinstance(node, KEEPING_NODES)
    return True


def multiply_sizes(node: exp.Expr, children: Sequence[exp.Expr], sizes: Sequence[float]) -> float:
    """The product of the sizes of the first two operands or arguments."""
    if isinstance(node, exp.Anonymous):
        operands = node.expressions[:2]
    else:
        operands = [node.this, node.args.get("expression") or node.args.get("substr")]
    found = [
        size
        for child, size in zip(children, sizes, strict=True)
        if any(child is operand for operand in operands)
    ]
    return found[0] * found[1] if len(found) == 2 else 0.0


def _pick_size(part: exp.Expr, children: Sequence[exp.Expr], sizes: Sequence[float]) -> float:
    """The size of that one of the children."""
    return sizes[next(at for at, child in enumerate(children) if child is part)]


def _rows_of_table(size: float) -> float:
    return _TABLE_ROWS if size > _LONG_BYTES else 1.0
