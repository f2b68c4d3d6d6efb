"""How long the value of one node becomes, by the lengths of its operands or arguments.

Numbers and formats count if the query writes them as constants, with or without a cast.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from sqlglot import exp

from execution.allowlists import load_function_names
from nl2sql.sql.parsing import MOST_CHARS

NAMES = load_function_names("growth")
"""Functions by how the size of their value depends on their arguments; see ``growth.yaml``."""

# The bytes that are assumed for a column's value, and those of a number, a date or a truth value.
COLUMN_BYTES = 100.0
SMALL_BYTES = 20.0
# What a function may repeat or pad to in one call.
MOST_TIMES = 10_000
# The growth of a replacement whose length the text does not tell.
_UNKNOWN_GROWTH = 100
# The weight of a product of digits in this sum: arithmetic is quicker.
_ARITHMETIC = 0.01
# The most digits of PostgreSQL's numbers; those of a power whose exponent is no constant, and of a
# number that is put together as text. PostgreSQL takes 0.2 s for 100,000, so a few do no harm.
_MOST_DIGITS = 150_000.0
_UNKNOWN_DIGITS = 30_000.0
POWERS = frozenset({"Pow", "pow", "power"})
_COMPOSING = frozenset({"DPipe", "Overlay", "Replace", "concat", "concat_ws", "format"})

_PADDED = frozenset((exp.DType.BIT, exp.DType.BPCHAR, exp.DType.CHAR, exp.DType.NCHAR))
# Types whose values are short, unlike those of PostgreSQL's numeric.
_SHORT_TYPES = (
    exp.DataType.INTEGER_TYPES | exp.DataType.FLOAT_TYPES | exp.DataType.TEMPORAL_TYPES
) - {exp.DType.BIT}
# A number with an exponent, also inside a text.
_EXPONENT = re.compile(r"\s*[+-]?[0-9._]+[eE][+-]?([0-9_]+)\s*")
# A number in a format: a width, a precision or a position.
_NUMBER = re.compile(r"\d+")
# A conversion whose width is an argument.
_COMPUTED = re.compile(r"%[^A-Za-z%]*\*|\{[^}]*\{")
# A conversion that doubles quotes or brackets.
_QUOTING = re.compile(r"%[-0-9$]*[LIqQw]")
# A control character that JSON writes as six signs, or what another function makes one of.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f]|\\u|%[^A-Za-z%]*c|c\}")
_LONGEST_NUMBER = 9


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
        written = float(digits) if len(digits) <= _LONGEST_NUMBER else _MOST_DIGITS
        return max(float(len(node.name)), min(written, _MOST_DIGITS))
    return float(len(node.name))


def makes_controls(node: exp.Expr) -> bool:
    """Whether the node may be, or make, a control character, which data hardly holds.

    >>> makes_controls(exp.Literal.string("\\x01")), makes_controls(exp.Literal.string("\\n"))
    (True, False)
    """
    if isinstance(node, exp.Literal):
        return _CONTROLS.search(node.name) is not None
    return isinstance(node, exp.Chr) or name_call(node) in ("char", "chr")


def measure_format(node: exp.Expr) -> tuple[int, int] | None:
    """How often a call like ``format(text, …)`` may write an argument, and how many other bytes.

    None for other calls, and if the text is not a constant, or a width in it is not.
    """
    if name_call(node) not in ("format", "printf"):
        return None
    text = node.expressions[0] if node.expressions else None
    if text is None or not text.is_string:
        return None
    if _COMPUTED.search(text.name):
        return None
    numbers = _NUMBER.findall(text.name)
    if any(len(number) > _LONGEST_NUMBER for number in numbers):
        return None
    written = text.name.count("%") + text.name.count("{") + len(_QUOTING.findall(text.name))
    return written, len(text.name) + sum(map(int, numbers))


def read_number(node: object) -> float | None:
    """A number written as such, with or without a sign or a cast; None for anything else."""
    if isinstance(node, exp.Neg):
        value = read_number(node.this)
        return None if value is None else -value
    if isinstance(node, exp.Cast | exp.Paren):
        return read_number(node.this)
    if isinstance(node, exp.Literal) and not node.is_string:
        try:
            return float(node.name)
        except ValueError:
            return None
    return None


def measure_factor(node: exp.Expr) -> float:
    """How many times longer the node may make a text, or a number, at most."""
    if not isinstance(node, exp.Anonymous | exp.Pow):
        return measure_growth(node) or 1.0
    arguments = [node.this, node.expression] if isinstance(node, exp.Pow) else node.expressions
    number = read_number(arguments[1]) if len(arguments) == 2 else None
    return math.inf if number is None else max(abs(number), 1.0)


def measure_growth(node: exp.Expr) -> float | None:
    """How many times longer the node may make a text; None if that is unknown."""
    if isinstance(node, exp.Repeat | exp.Pad):
        key = "times" if isinstance(node, exp.Repeat) else "expression"
        times = read_number(node.args.get(key))
        return max(times, 1.0) if times is not None and times <= MOST_TIMES else None
    old, new = node.expression, node.args.get("replacement")
    if not isinstance(new, exp.Literal):
        return _UNKNOWN_GROWTH
    if isinstance(node, exp.RegexpReplace):
        # An empty match stands between any two letters; \1 and \& bring the match along.
        return len(new.name) + 1.0 if new.name else 1.0
    shortest = len(old.name) if isinstance(old, exp.Literal) and old.name else 1
    return max(1.0, len(new.name) / shortest)


def count_steps(node: exp.Expr, sizes: Sequence[float], size: float) -> float:
    """What the node adds to the sum of comparisons; ``size`` is that of its value."""
    name = name_kind(node)
    if name in POWERS:
        return size * size * _ARITHMETIC
    if name in NAMES["computing"]:
        # One operand times itself: a root.
        return (multiply(sizes) or size * size) * _ARITHMETIC
    return multiply(sizes) if name in NAMES["comparing"] else 0.0


def multiply(sizes: Sequence[float]) -> float:
    """The product of the two largest sizes; 0 if there is one only."""
    return math.prod(sorted(sizes)[-2:]) if len(sizes) > 1 else 0.0


def name_kind(node: exp.Expr) -> str:
    """The lower-case name of a function, or the name of the node's type, as in the file."""
    return name_call(node) or type(node).__name__


def measure_power(node: exp.Expr, sizes: Sequence[float]) -> float:
    """The digits of a power; ``sizes`` are those of its base and exponent."""
    # The exponent's own length is nothing to the result's.
    base = sizes[0] if sizes else 0.0
    digits = min(base, SMALL_BYTES) if base <= COLUMN_BYTES else base
    if math.isinf(factor := measure_factor(node)):
        return max(base, _UNKNOWN_DIGITS)
    return max(min(digits * factor, _MOST_DIGITS), SMALL_BYTES)


def measure_cast(node: exp.Cast, size: float) -> float:
    """The bytes of a value of that size behind the cast."""
    if (padded := _measure_padding(node.to)) > SMALL_BYTES:
        return max(size, padded)
    if node.to.this in _SHORT_TYPES:
        return SMALL_BYTES
    inner = node.this.unnest()
    if node.to.this in exp.DataType.REAL_TYPES:
        return max(size, _UNKNOWN_DIGITS) if name_kind(inner) in _COMPOSING else size
    # Text of a list or row has its quotes doubled.
    return size if isinstance(inner, exp.Literal) else size * 2


def _measure_padding(kind: exp.DataType) -> float:
    """The length to which a cast fills up its value, ``char(9)`` or ``bit(9)``; 0 for others.

    That of an array is the sum over as many elements as a query can write.
    """
    elements = 1.0
    while kind.this == exp.DType.ARRAY and kind.expressions:
        kind, elements = kind.expressions[0], MOST_CHARS / 2
    if kind.this not in _PADDED:
        return 0.0
    longest = max((read_number(length.this) or 0.0 for length in kind.expressions), default=0.0)
    return longest * elements


class Size(NamedTuple):
    """Nodes of an expression, and bytes of its value."""

    nodes: float
    bytes: float


Sizes = Sequence[Size]


def find_largest(sizes: Sizes) -> Size:
    """The most nodes and the most bytes of any of them."""
    return Size(
        max((size.nodes for size in sizes), default=1.0),
        max((size.bytes for size in sizes), default=COLUMN_BYTES),
    )


def measure_long(sizes: Sizes) -> float:
    """The bytes of a row: of what is longer than the database's own columns."""
    return max(sum(size.bytes for size in sizes if size.bytes > COLUMN_BYTES), COLUMN_BYTES)


def merge(first: Sizes, second: Sizes) -> Sizes:
    """The larger of both in each place; where the text does not tell the places, of all."""
    if len(first) != len(second):
        return [find_largest([*first, *second])]
    return [find_largest(pair) for pair in zip(first, second, strict=True)]
