"""The shared part of the guard's parsers of PostgreSQL and DuckDB, where sqlglot reads otherwise.

The type in ``date '2024-01-31'::text`` belongs to the literal alone; sqlglot applies ``::text``
first and the type to the result, so a query that asks for a text would get a date. ``interval`` is
a literal's type only directly before an amount, and a column elsewhere; sqlglot reads anything
after it, even after a following ``+``, as an amount. A subscript after a call does not make it a
list.

Knows nothing of catalogs or allowlists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import TokenType

from execution.parsing.plain_calls import enclose_call

# What may follow a literal: ``::text``, ``[1]``, ``.a``, ``-> 'a'``.
_BEHIND = exp.Cast | exp.Bracket | exp.Dot | exp.JSONExtract | exp.JSONExtractScalar


class PlainParser(Parser):
    """The shared part of the dialects' parsers."""

    # The tokens that begin an interval's amount, directly after the word.
    INTERVAL_AMOUNTS: ClassVar[frozenset[TokenType]]

    # A JSON literal is a cast like any other.
    TYPE_LITERAL_PARSERS: ClassVar[dict[exp.DType, Callable[..., exp.Expr]]] = {}

    def _parse_type(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        # After the last word, sqlglot has a token without a type.
        first = self._curr.token_type
        if first == TokenType.INTERVAL and not self._has_amount():
            return self._parse_column()
        parsed: exp.Expr | None = super()._parse_type(*args, **kwargs)
        if first in self.TYPE_TOKENS:
            return bind_type(parsed) if isinstance(parsed, exp.Cast) else parsed
        return parsed

    def _parse_interval(
        self, require_interval: bool = True, parse_function_unit: bool = True
    ) -> exp.Interval | None:
        if not self._has_amount():
            return None
        self._advance()
        amount = self._parse_primary()
        if not isinstance(amount, exp.Literal | exp.Paren):
            self.raise_error("INTERVAL wants one string or number, or one value in parentheses")
            return None
        return self._parse_interval_span(amount, parse_function_unit=parse_function_unit)

    def _has_amount(self) -> bool:
        """True if the next word is ``interval`` and an amount follows it."""
        is_interval = self._curr.token_type == TokenType.INTERVAL
        return is_interval and self._next.token_type in self.INTERVAL_AMOUNTS

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        is_subscript = self._curr.token_type == TokenType.L_BRACKET
        parsed: exp.Expr | None = super()._parse_bracket(
            enclose_call(this) if is_subscript else this
        )
        return parsed


def bind_type(cast: exp.Cast) -> exp.Expr:
    """Moves a cast around an expression that begins with a literal to the literal itself.

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
