"""How the size of a function's value depends on its arguments, by name, for ``value_sizes.py``.

The guard's dialects read a function as a name with arguments, so the same names serve all
databases (``allowlists/growth.yaml``).
"""

from __future__ import annotations

import re

from sqlglot import exp

from execution.allowlists import load_function_names

_NAMES = load_function_names("growth")
GATHERING, JOINING, SPREADING = _NAMES["gathering"], _NAMES["joining"], _NAMES["spreading"]
MULTIPLYING, FILLING, DRAWING = _NAMES["multiplying"], _NAMES["filling"], _NAMES["drawing"]
INDENTING, COMPARING, DIVIDING = _NAMES["indenting"], _NAMES["comparing"], _NAMES["dividing"]
POWERS, FACTORIALS, COMPOSING = _NAMES["powers"], _NAMES["factorials"], _NAMES["composing"]
SMALL, KEEPING, FORMATTING = _NAMES["small"], _NAMES["keeping"], _NAMES["formatting"]
# How often ``FILLING`` may write its argument; ``growing_calls.py`` enforces this limit.
MOST_FILLED = 10_000
# Bytes: DuckDB's bar has 1000 letters of three bytes.
MOST_DRAWN = 3000.0
# The digits of the largest factorial that ``growing_calls.py`` allows.
MOST_FACTORIAL = 2600.0

# A number with an exponent, also inside a text.
_EXPONENT = re.compile(r"\s*[+-]?[0-9._]+[eE][+-]?([0-9_]+)\s*")
# The most digits of PostgreSQL's numbers, before and after the decimal point.
MOST_DIGITS = 150_000.0
# A number in a format: a width, a precision or a position.
_NUMBER = re.compile(r"\d+")
# A conversion whose width is an argument.
_COMPUTED = re.compile(r"%[^A-Za-z%]*\*|\{[^}]*\{")
_MOST_DIGITS = 9


def name_call(node: exp.Expr) -> str:
    """The lower-case name of a function without a node type of its own; empty for other nodes.

    >>> name_call(exp.Anonymous(this="UPPER"))
    'upper'
    """
    return node.name.lower() if isinstance(node, exp.Anonymous) else ""


def measure_literal(node: exp.Literal) -> float:
    """The bytes of a constant; for a number, its digits without an exponent.

    >>> measure_literal(exp.Literal.number("1e5000"))
    5000.0
    """
    if match := _EXPONENT.fullmatch(node.name):
        digits = match[1].replace("_", "")
        written = float(digits) if len(digits) <= _MOST_DIGITS else MOST_DIGITS
        return max(float(len(node.name)), min(written, MOST_DIGITS))
    return float(len(node.name))


def measure_format(node: exp.Expr) -> tuple[int, int] | None:
    """How often a call like ``format(text, …)`` may write an argument, and how many other bytes.

    None if the text is not a constant, or a width in it is not.
    """
    text = node.expressions[0] if node.expressions else None
    if text is None or not text.is_string:
        return None
    if _COMPUTED.search(text.name):
        return None
    numbers = _NUMBER.findall(text.name)
    if any(len(number) > _MOST_DIGITS for number in numbers):
        return None
    return text.name.count("%") + text.name.count("{"), len(text.name) + sum(map(int, numbers))
