"""Reads ``date '2024-01-31'::text`` as the databases do: the type belongs to the literal alone.

sqlglot applies what stands behind the literal first, and the type to the outcome: a date, cut from
a text, where a text was asked for.

Knows nothing of dialects. Does not cover ``interval '…'``, which sqlglot reads rightly.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.parser import Parser

# What may be written behind a literal: ``::text``, ``[1]``, ``.a``, ``-> 'a'``.
_BEHIND = exp.Cast | exp.Bracket | exp.Dot | exp.JSONExtract | exp.JSONExtractScalar


class TypedLiterals(Parser):
    """A part of a dialect's parser."""

    def _parse_type(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        first = self._curr
        parsed: exp.Expr | None = super()._parse_type(*args, **kwargs)
        if first is not None and first.token_type in self.TYPE_TOKENS:
            return bind_type(parsed) if isinstance(parsed, exp.Cast) else parsed
        return parsed


def bind_type(cast: exp.Cast) -> exp.Expr:
    """A cast around all that begins with a literal as one of the literal; others as they are.

    >>> from sqlglot import parse_one
    >>> bind_type(parse_one("CAST(CAST('2024-01-31' AS TEXT) AS DATE)")).sql()
    "CAST(CAST('2024-01-31' AS DATE) AS TEXT)"
    """
    whole = literal = cast.this
    while isinstance(literal, _BEHIND):
        literal = literal.this
    if literal is whole or not isinstance(literal, exp.Literal):
        return cast
    literal.replace(exp.Cast(this=literal.copy(), to=cast.args["to"]))
    assert isinstance(whole, exp.Expr)
    return whole.pop()
