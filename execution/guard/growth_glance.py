"""A quick check of a query's nodes that shows that no value in it can grow too large.

Most queries are so small that ``growth.py`` need not measure them. The check is one-sided: a query
that does not pass may be small as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlglot import exp

from execution.guard.measured_functions import (
    COMPARING,
    DIVIDING,
    DRAWING,
    FILLING,
    FORMATTING,
    GATHERING,
    INDENTING,
    KEEPING,
    MULTIPLYING,
    POWERS,
    SMALL,
    SPREADING,
    measure_literal,
    name_call,
)
from execution.guard.written_constants import read_number
from execution.name_resolution.scopes import Resolution
from execution.parsing.plain_calls import InfixOperator
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
# Nodes whose value can be much larger than their arguments.
_GROWING = (
    exp.GenerateSeries,
    exp.Pad,
    exp.Pow,
    exp.RegexpReplace,
    exp.Repeat,
    exp.Replace,
    exp.Unnest,
)
_GROWING_NAMES = (
    POWERS | GATHERING | SPREADING | INDENTING | MULTIPLYING | FILLING | FORMATTING | DRAWING
)

_FEW_NAMES = 5000
# By a call's name, or else by the node's type: the factor by which its value may be longer than its
# arguments, and its weight as a comparison.
_kinds: dict[type | str, tuple[float, float]] = {}
_MOST_KINDS = 10_000


def is_small(nodes: Sequence[exp.Expr], found: Resolution) -> bool:
    """Whether it is certain that no value can grow too large; true for most queries.

    If every name is replaced by the expression that it refers to, the most names result when the
    names are distributed evenly over queries that are nested in one another.
    """
    growth, comparing = COLUMN_BYTES, 0.0
    for node in nodes:
        key = name_call(node) or type(node)
        known = _kinds.get(key)
        if known is None:
            known = _judge_growth(node), compares(node) or (computes(node) and ARITHMETIC)
            if len(_kinds) < _MOST_KINDS:
                _kinds[key] = known
        times, weight = known
        if node.args.get("recursive") or measure_padding(node) > COLUMN_BYTES:
            return False
        growth *= times
        comparing += weight
    levels = max(len(found.selects), 1)
    names = (len(found.origins) / levels + 1) ** levels
    if names > _FEW_NAMES or names * growth > MOST_BYTES:
        return False
    if not comparing:
        return True
    letters = sum(measure_literal(node) for node in nodes if isinstance(node, exp.Literal))
    longest = names * max(letters / COLUMN_BYTES, 1.0) * growth
    return comparing * longest**2 <= MOST_COMPARED


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


def _judge_growth(node: exp.Expr) -> float:
    if name := name_call(node):
        if name in _GROWING_NAMES:
            return math.inf
        return 1.0 if name in KEEPING or name in SMALL else 2.0
    if isinstance(node, _GROWING):
        return math.inf
    known = (*KEEPING_NODES, *SMALL_NODES, exp.Cast)
    keeps = not isinstance(node, (exp.Func, *ROWS)) or isinstance(node, known)
    return 1.0 if keeps else 2.0
