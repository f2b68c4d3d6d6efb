"""Whether a glance at a query's nodes tells that nothing in it can grow too far.

Most of what people ask is so small that ``growth.py`` need not measure it. Says only that a query
is small; one of which it does not say so may be small all the same.
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
from execution.name_resolution.scopes import Resolution

# Bytes of one text at most, and what a column's is taken for.
MOST_BYTES = 10_000_000
COLUMN_BYTES = 100.0
# Of two texts that are searched for one another, the product of the lengths at most, all such in a
# query together. PostgreSQL takes a third of a second for so many.
MOST_COMPARED = 100_000_000.0
# What a product of numbers of so many digits counts for among these: they are quicker.
ARITHMETIC = 0.01

# Give a truth or a time, however long their arguments are.
SMALL_NODES = (exp.Predicate, exp.Connector, exp.Not, exp.Interval)
# Give back one of their arguments, or a part of it. Whatever is not known to is thought to double.
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
# Hold every part of one operand against every part of the other.
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
    # An array of keys taken away from a JSON document.
    exp.Sub,
    exp.Trim,
)
ARITHMETIC_NODES = (exp.Div, exp.IntDiv, exp.Mod, exp.Mul)
# Rows, which double the quotes of their texts when they become text.
ROWS = (exp.Struct, exp.Tuple)
# What can make much of little within one query.
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
# By a call's name, or else by the node's type: how many times longer its value may be than its
# arguments, and how often it counts as comparing.
_kinds: dict[type | str, tuple[float, float]] = {}
_MOST_KINDS = 10_000


def is_small(nodes: Sequence[exp.Expr], found: Resolution) -> bool:
    """Whether a glance tells that nothing can grow too far; true for most of what people ask.

    However the names are spread over the queries, putting each in its place gives no more of them
    than if all queries had equally many, each on top of the other.
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
        if node.args.get("recursive"):
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


def compares(node: exp.Expr) -> bool:
    """Whether the node may take the product of the lengths of two texts or lists."""
    return isinstance(node, COMPARING_NODES) or name_call(node) in COMPARING


def computes(node: exp.Expr) -> bool:
    """Whether the node may take the product of the digits of two numbers."""
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
