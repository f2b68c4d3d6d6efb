"""Shared parts of the guard's dialects: nodes that are rendered exactly as they were written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.generator import Generator
from sqlglot.parser import Parser

Builder = Callable[[list[Any]], exp.Expr]
Writer = Callable[[Any, Any], str]

# PostgreSQL and DuckDB read two of them in a row as one operator.
_OPERATOR_SIGNS = frozenset("+-*/<>=~!@#%^&|`?")


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
        return write_call(name, "this", "expression", "fill_pattern")(self, expression)

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
        return f"{operator}{' ' if operand[:1] in _OPERATOR_SIGNS else ''}{operand}"


def write_prefix(generator: Generator, node: PrefixOperator) -> str:
    """The operator, a space and its operand."""
    return f"{node.args['operator']} {generator.sql(node, 'this')}"


def read_plus(parser: Parser) -> exp.Expr:
    """Parses a prefix plus: on SQLite it removes the affinity and collation of a column."""
    return parser.expression(PrefixOperator(this=parser._parse_unary(), operator="+"))


def fill(args: list[Any], count: int) -> tuple[Any, ...]:
    """The arguments, padded with None to ``count``. Raises ParseError if there are more."""
    if len(args) > count:
        raise ParseError(f"A call has more than {count} arguments.")
    return (*args, *[None] * (count - len(args)))


def build_pad(*, is_left: bool) -> Builder:
    """Builds ``lpad`` or ``rpad`` with the arguments that are given."""

    def build(args: list[Any]) -> exp.Expr:
        text, length, pattern = fill(args, 3)
        return exp.Pad(this=text, expression=length, fill_pattern=pattern, is_left=is_left)

    return build


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
