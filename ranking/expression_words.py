"""The words of operators, conditions and functions in a query (``query_words.py``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp
from sqlglot.generator import Generator

_DATE_FORMATS = {"%Y": "year", "%Y-%m": "month", "%m": "month", "%d": "day"}

Words = Callable[[Generator, Any], str]
"""The words for a node, of which the generator writes the parts."""


def enumerate_words(words: Sequence[str]) -> str:
    """The words as one phrase.

    >>> enumerate_words(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _write_not(write: Generator, node: exp.Not) -> str:
    match node.this:
        case exp.In() as within:
            return f"{write.sql(within.this)} is none of {_list_members(write, within)}"
        case exp.Exists() as exists:
            return f"there is no ({write.sql(exists.this)})"
    return f"not ({write.sql(node.this.unnest())})"


def _list_members(write: Generator, within: exp.In) -> str:
    if query := within.args.get("query"):
        return str(write.sql(query))
    return enumerate_words([write.sql(member) for member in within.expressions])


def _write_is(write: Generator, node: exp.Is) -> str:
    if isinstance(node.expression, exp.Null):
        return f"{write.sql(node.this)} is {'known' if node.args.get('negate') else 'missing'}"
    return _join("is")(write, node)


def _join(words: str) -> Words:
    """Both sides of an operator with words between them."""

    def write_both(write: Generator, node: exp.Expr) -> str:
        text = f"{write.sql(node.this)} {words} {write.sql(node.expression)}"
        # sqlglot writes some negations as an argument.
        return f"not ({text})" if node.args.get("negate") else text

    return write_both


def _aggregate(words: str) -> Words:
    def count(write: Generator, node: exp.Expr) -> str:
        counted = node.this
        if isinstance(counted, exp.Distinct):
            different = enumerate_words([write.sql(each) for each in counted.expressions])
            return f"{words} different {different}"
        is_rows = counted is None or isinstance(counted, exp.Star)
        return f"{words} {'rows' if is_rows else write.sql(counted)}"

    return count


def _part(unit: str) -> Words:
    return lambda write, node: f"the {unit} of {write.sql(node.this)}"


def _write_trunc(write: Generator, node: exp.Expr) -> str:
    return _part(node.text("unit").lower())(write, node)


def _write_format(write: Generator, node: exp.TimeToStr) -> str:
    form = node.text("format")
    if unit := _DATE_FORMATS.get(form):
        return _part(unit)(write, node)
    return f"{write.sql(node.this)} as '{form}'"


def _write_inner(write: Generator, node: exp.Expr) -> str:
    """For what changes the form of a value, not what it says."""
    return str(write.sql(node.this))


def _write_coalesce(write: Generator, node: exp.Coalesce) -> str:
    others = enumerate_words([write.sql(each) for each in node.expressions])
    return f"{write.sql(node.this)} (or {others})"


EXPRESSION_WORDS: Mapping[type[exp.Expr], Words] = {
    exp.Subquery: lambda write, node: f"({write.sql(node.this)})",
    exp.Star: lambda write, node: (
        write.star_sql(node) if any(node.args.values()) else "all columns"
    ),
    exp.And: _join("and"),
    exp.Or: _join("or"),
    exp.Not: _write_not,
    exp.EQ: _join("is"),
    exp.NEQ: _join("is not"),
    exp.GT: _join("is more than"),
    exp.GTE: _join("is at least"),
    exp.LT: _join("is less than"),
    exp.LTE: _join("is at most"),
    exp.Like: _join("is like"),
    exp.ILike: _join("is like"),
    exp.Is: _write_is,
    exp.In: lambda write, node: f"{write.sql(node.this)} is one of {_list_members(write, node)}",
    exp.Between: lambda write, node: (
        f"{write.sql(node.this)} is between {write.sql(node.args['low'])} "
        f"and {write.sql(node.args['high'])}"
    ),
    exp.Exists: lambda write, node: f"there is any ({write.sql(node.this)})",
    exp.Mul: _join("times"),
    exp.Div: _join("/"),
    exp.Count: _aggregate("the number of"),
    exp.Sum: _aggregate("the sum of"),
    exp.Avg: _aggregate("the average of"),
    exp.Min: _aggregate("the lowest"),
    exp.Max: _aggregate("the highest"),
    exp.Coalesce: _write_coalesce,
    exp.CurrentDate: lambda write, node: "today",
    exp.CurrentTimestamp: lambda write, node: "now",
    exp.Interval: lambda write, node: f"{node.this.name} {node.text('unit').lower()}",
    exp.Extract: lambda write, node: f"the {node.name.lower()} of {write.sql(node.expression)}",
    exp.Year: _part("year"),
    exp.Quarter: _part("quarter"),
    exp.Month: _part("month"),
    exp.Day: _part("day"),
    exp.TimestampTrunc: _write_trunc,
    exp.DateTrunc: _write_trunc,
    exp.TimeToStr: _write_format,
    **dict.fromkeys(
        (
            exp.Alias,
            exp.Cast,
            exp.TryCast,
            exp.Round,
            exp.TsOrDsToDate,
            exp.TsOrDsToTimestamp,
            exp.TsOrDsToTime,
        ),
        _write_inner,
    ),
}
