"""The shared parts of the guard's dialects, where sqlglot reads or writes otherwise than written.

The type in ``date '2024-01-31'::text`` belongs to the literal alone; sqlglot applies ``::text``
first and the type to the result, so a query that asks for a text would get a date. ``interval`` is
a literal's type only directly before an amount, and a column elsewhere; sqlglot reads anything
after it, even after a following ``+``, as an amount. A subscript after a call does not make it a
list. Nodes are rendered exactly as they were written.

Knows nothing of catalogs or allowlists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.generator import Generator
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import TokenType

Builder = Callable[[list[Any]], exp.Expr]
Writer = Callable[[Any, Any], str]

# PostgreSQL and DuckDB read two of them in a row as one operator.
OPERATOR_SIGNS = frozenset("+-*/<>=~!@#%^&|`?")
# Only an operator with one of these may end in + or -.
_FREE_SIGNS = frozenset("~!@#%^&|`?")


def split_operators(signs: str) -> list[str]:
    """The operators that PostgreSQL and DuckDB read in a sequence of operator signs.

    >>> split_operators("<=>-"), split_operators("*-"), split_operators("@-")
    (['<=>', '-'], ['*', '-'], ['@-'])
    """
    if not _FREE_SIGNS.isdisjoint(signs):
        return [signs]
    first = signs.rstrip("+-") or signs[:1]
    return [first, *signs[len(first) :]]


class InfixOperator(exp.Expression, exp.Binary):
    """An infix operator without a node of its own: ``<->``, ``^@``."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True, "signs": True}


class PrefixOperator(exp.Unary):
    """A prefix operator that sqlglot drops or reads as a call: ``+``, ``|/``."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "operator": True}


class PlainGenerator(Generator):
    """The shared part of the dialects' generators."""

    def pad_sql(self, expression: exp.Pad) -> str:
        """``LPAD`` or ``RPAD`` with the arguments that were given."""
        name = "LPAD" if expression.args.get("is_left") else "RPAD"
        return write_call(name, *_PAD_KEYS)(self, expression)

    def not_sql(self, expression: exp.Not) -> str:
        """With parentheses next to an operator: ``a NOT IN b = c`` is ``(NOT a IN b) = c``."""
        sql = super().not_sql(expression)
        around = expression.parent
        is_operand = isinstance(around, exp.Binary) and not isinstance(around, exp.Connector)
        return f"({sql})" if is_operand else sql

    def neg_sql(self, expression: exp.Neg) -> str:
        """With a space before an operator that follows."""
        return self._write_prefix("-", expression)

    def bitwisenot_sql(self, expression: exp.BitwiseNot) -> str:
        """With a space before an operator that follows."""
        return self._write_prefix("~", expression)

    def _write_prefix(self, operator: str, expression: exp.Unary) -> str:
        operand = self.sql(expression, "this")
        return f"{operator}{' ' if operand[:1] in OPERATOR_SIGNS else ''}{operand}"


def read_plus(parser: Parser) -> exp.Expr:
    """Parses a prefix plus: on SQLite it removes the affinity and collation of a column."""
    return parser.expression(PrefixOperator(this=parser._parse_unary(), operator="+"))


def fill(args: list[Any], count: int) -> tuple[Any, ...]:
    """The arguments, padded with None to ``count``. Raises ParseError if there are more."""
    if len(args) > count:
        raise ParseError(f"A call has more than {count} arguments.")
    return (*args, *[None] * (count - len(args)))


def build_call(kind: type[exp.Expr], *keys: str, **fixed: object) -> Builder:
    """Builds a node of the kind: each argument under its key, in their order, and what is fixed.

    A call with more arguments is a ParseError.
    """
    return lambda args: kind(**dict(zip(keys, fill(args, len(keys)), strict=True)), **fixed)


_PAD_KEYS = ("this", "expression", "fill_pattern")
# Functions that make texts longer, which PostgreSQL and DuckDB share.
LENGTHENING: dict[str, Builder] = {
    "LPAD": build_call(exp.Pad, *_PAD_KEYS, is_left=True),
    "REPEAT": exp.Repeat.from_arg_list,
    "REPLACE": exp.Replace.from_arg_list,
    "RPAD": build_call(exp.Pad, *_PAD_KEYS, is_left=False),
}


def enclose_call(node: exp.Expr | None) -> exp.Expr | None:
    """A call in parentheses, before a subscript: sqlglot reads ``list(x)[1]`` as a list of 1.

    >>> enclose_call(exp.Anonymous(this="list")).sql(), enclose_call(exp.column("list")).sql()
    ('(LIST())', 'list')
    """
    is_constructor = isinstance(node, exp.Func) and node.name.lower() in ("array", "list")
    return exp.Paren(this=node) if is_constructor or isinstance(node, exp.Array) else node


def write_infix(operator: str) -> Writer:
    """Writes a binary node with the operator between its operands."""

    def write(generator: Generator, node: exp.Binary) -> str:
        return generator.binary(node, operator)

    return write


def write_call(name: str, *keys: str) -> Writer:
    """Writes a node as a call of ``name`` with those of the arguments ``keys`` that are set."""

    def write(generator: Generator, node: exp.Expr) -> str:
        return generator.func(
            name, *(node.args[key] for key in keys if node.args.get(key) is not None)
        )

    return write


PLAIN_TRANSFORMS: dict[type[exp.Expr], Writer] = {
    PrefixOperator: lambda self, node: f"{node.args['operator']} {self.sql(node, 'this')}",
    exp.JSONExtract: write_infix("->"),
    exp.JSONExtractScalar: write_infix("->>"),
}
"""How the dialects write operators, where sqlglot knows others or none."""


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


_SPAN = "span"
_SPACES = " \t\n\r\f\v"


_WRITTEN = "written"
_CONDITIONS = (exp.Connector, exp.Escape, exp.Not, exp.Predicate)


class SpanningParser(Parser):
    """Records the places of outputs, for their names, and which parentheses were written.

    For SQLite and DuckDB, which name an output by its text.
    """

    # An arrow is always JSON's; functions that take a lambda are not on the allowlists.
    LAMBDAS: ClassVar[dict[TokenType, Any]] = {}
    NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, Any]] = {
        TokenType.CURRENT_DATE: exp.CurrentDate,
        TokenType.CURRENT_TIME: exp.CurrentTime,
        TokenType.CURRENT_TIMESTAMP: exp.CurrentTimestamp,
    }

    def _parse_paren(self) -> exp.Expr | None:
        inner: exp.Expr | None = super()._parse_paren()
        if isinstance(inner, exp.Paren):
            inner.meta[_WRITTEN] = True
        return inner

    def _parse_projections(self) -> tuple[list[exp.Expr], list[exp.Expr] | None]:
        return self._parse_csv(self._parse_output), None

    def _parse_output(self) -> exp.Expr | None:
        start = self._curr.start
        output: exp.Expr | None = self._parse_expression()
        if output is not None:
            output.meta[_SPAN] = (start, self._find_next())
        return output

    def _find_next(self) -> int:
        """Where the next word or sign begins, or the statement ends."""
        if self._index < len(self._tokens):
            return int(self._curr.start)
        end = self.sql.find(";", self._prev.end + 1)
        return len(self.sql) if end < 0 else end


def read_span(output: exp.Expr, sql: str) -> str:
    """The text of an output in ``sql``, from which it was parsed, up to the next word or sign."""
    start, end = output.meta[_SPAN]
    return sql[start:end].rstrip(_SPACES)


def remove_parentheses(tree: exp.Expr) -> None:
    """Removes the parentheses that sqlglot's parser adds around conditions, in place.

    They follow sqlglot's precedence; without them, the database reads what was written.
    """
    for paren in list(tree.find_all(exp.Paren)):
        if isinstance(paren.this, _CONDITIONS) and not paren.meta_get(_WRITTEN):
            paren.replace(paren.this)
