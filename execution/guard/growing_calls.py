"""Calls that make texts, lists or numbers long: how much longer, and which of them are refused.

A call is refused when the text of the query does not tell how long its value becomes.
"""

from __future__ import annotations

import math

from sqlglot import exp

from execution.fragments import quote_fragment
from execution.guard.generators import GENERATORS
from execution.guard.measured_functions import MOST_FILLED, measure_format, name_call
from execution.guard.written_constants import read_number
from nl2sql.types import Violation

# What a function may repeat or pad to in one call.
_MOST_TIMES = 10_000
_LARGEST_FACTORIAL = 1000
# Of a path in a JSON document: each ** gives as many values again as the document has levels, each
# comma in brackets may double them.
_MOST_DESCENTS = 1
_MOST_COMMAS = 10
# The growth of a replacement whose length the text does not tell.
_UNKNOWN_GROWTH = 100

_NAMED = (exp.Alias, exp.Kwarg, exp.PropertyEQ)
# ``@?`` and ``@@``; the latter searches texts, too.
_PATHS = (exp.JSONBPathExists, exp.MatchAgainst)
_TEXT_SEARCHES = frozenset(
    "phraseto_tsquery plainto_tsquery to_tsquery to_tsvector websearch_to_tsquery".split()
)
_GROWING = (exp.Pad, exp.RegexpReplace, exp.Repeat, exp.Replace)
# Nodes whose arguments are measured by their places.
_SUSPECTS = (*GENERATORS, exp.CTE, *_GROWING)


def check_call(node: exp.Expr) -> Violation | None:
    """Why a call, or an operator that stands for one, could make too much, or None."""
    if check := CHECKS.get(name_call(node)):
        return check(node)
    if isinstance(node, _PATHS) and (violation := _check_path(node)):
        return violation
    if isinstance(node, _GROWING) and _measure_growth(node) is None:
        fragment = quote_fragment(node)
        message = f"{fragment}: write how often as a number of at most {_MOST_TIMES}."
        return Violation("too_much_text", fragment, message)
    return None


def check_arguments(node: exp.Expr) -> Violation | None:
    """Refuses arguments of what is measured that stand elsewhere than they seem to."""
    if name_call(node) not in CHECKS and not isinstance(node, _SUSPECTS):
        return None
    kinds = (*_NAMED, exp.Variadic) if isinstance(node, _SUSPECTS) else _NAMED
    if not any(isinstance(argument, kinds) for argument in node.iter_expressions()):
        return None
    fragment = quote_fragment(node)
    return Violation("too_much_text", fragment, f"{fragment}: write its arguments one by one.")


def measure_factor(node: exp.Expr) -> float:
    """How many times longer the node may make a text, or a number, at most."""
    if not isinstance(node, exp.Anonymous | exp.Pow):
        return _measure_growth(node) or 1.0
    arguments = [node.this, node.expression] if isinstance(node, exp.Pow) else node.expressions
    number = read_number(arguments[1]) if len(arguments) == 2 else None
    return math.inf if number is None else max(abs(number), 1.0)


def _measure_growth(node: exp.Expr) -> float | None:
    """How many times longer the node may make a text; None where that cannot be told."""
    if isinstance(node, exp.Repeat | exp.Pad):
        key = "times" if isinstance(node, exp.Repeat) else "expression"
        times = read_number(node.args.get(key))
        return max(times, 1.0) if times is not None and times <= _MOST_TIMES else None
    old, new = node.expression, node.args.get("replacement")
    if not isinstance(new, exp.Literal):
        return _UNKNOWN_GROWTH
    if isinstance(node, exp.RegexpReplace):
        # An empty match stands between any two letters; \1 and \& bring the match along.
        return len(new.name) + 1.0 if new.name else 1.0
    shortest = len(old.name) if isinstance(old, exp.Literal) and old.name else 1
    return max(1.0, len(new.name) / shortest)


def _check_format(node: exp.Expr) -> Violation | None:
    """Refuses ``format`` with a text that is no constant, or with a width that makes it long."""
    measured = measure_format(node)
    if measured is not None and measured[1] <= 2 * _MOST_TIMES:
        return None
    fragment = quote_fragment(node)
    return Violation(
        "too_much_text",
        fragment,
        f"{fragment}: write the format as a constant, with widths of at most {_MOST_TIMES}.",
    )


def _check_factorial(node: exp.Expr) -> Violation | None:
    number = read_number(node.expressions[0]) if len(node.expressions) == 1 else None
    if number is not None and number <= _LARGEST_FACTORIAL:
        return None
    fragment = quote_fragment(node)
    message = f"{fragment}: write a number of at most {_LARGEST_FACTORIAL}."
    return Violation("too_much_text", fragment, message)


def _check_fill(node: exp.Expr) -> Violation | None:
    """Refuses ``array_fill`` unless constants tell how many elements it makes."""
    sizes = node.expressions[1] if len(node.expressions) > 1 else None
    written = sizes.expressions if isinstance(sizes, exp.Array) else []
    numbers = [number for size in written if (number := read_number(size)) is not None]
    if written and len(numbers) == len(written) and math.prod(numbers) <= MOST_FILLED:
        return None
    fragment = quote_fragment(node)
    message = f"{fragment}: write the sizes as numbers, at most {MOST_FILLED} elements in all."
    return Violation("too_much_text", fragment, message)


def _searches_text(node: object) -> bool:
    """Whether the node's value is a query for texts, or a text prepared for one, by its type."""
    if isinstance(node, exp.Paren):
        return _searches_text(node.this)
    if isinstance(node, exp.Cast):
        return node.to.sql("postgres").lower() in ("tsquery", "tsvector")
    return isinstance(node, exp.Anonymous) and name_call(node) in _TEXT_SEARCHES


def _check_path(node: exp.Expr) -> Violation | None:
    """Refuses a path in a JSON document that is no constant or may give values without end.

    A column behind ``@@``, or a query for texts, is no path: no cast makes it one.
    """
    if isinstance(node, exp.MatchAgainst):
        path = node.this
        if isinstance(path, exp.Column) or _searches_text(path):
            return None
    elif isinstance(node, exp.Anonymous):
        path = node.expressions[1] if len(node.expressions) > 1 else None
    else:
        path = node.expression
    path = path.unnest() if isinstance(path, exp.Expr) else None
    if (
        isinstance(path, exp.Literal)
        and path.name.count("**") <= _MOST_DESCENTS
        and path.name.count(",") <= _MOST_COMMAS
    ):
        return None
    fragment = quote_fragment(node)
    return Violation(
        "too_much_text",
        fragment,
        f"{fragment}: write the path as a constant with at most one ** and {_MOST_COMMAS} commas.",
    )


CHECKS = {
    "array_fill": _check_fill,
    "factorial": _check_factorial,
    "format": _check_format,
    "jsonb_path_exists": _check_path,
    "jsonb_path_match": _check_path,
    "jsonb_path_query_first": _check_path,
    "printf": _check_format,
}
