"""The guard's dialect of PostgreSQL: sqlglot's, without its translations.

sqlglot's PostgreSQL dialect turns functions into nodes that are common to all databases, and spells
them anew: ``date_part`` becomes ``EXTRACT``, which has another type, ``to_hex`` becomes ``hex``,
which does not exist. Here a function stays a name with arguments, ``->`` an operator with its
operands, and a string its value, however it was quoted. Functions that ``growing_calls.py``
measures (generators of rows, functions that make text longer) keep their nodes, which are written
as read. ``pg_catalog.f`` becomes ``f``, so that a schema hides no function from checks by name.

Knows nothing of catalogs or allowlists. Bit strings are not supported: a query with one is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

import postgast
from sqlglot import exp
from sqlglot.dialects.dialect import inline_array_sql
from sqlglot.dialects.postgres import Postgres
from sqlglot.generators.postgres import PostgresGenerator
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.tokenizer_core import Token, TokenType

from execution.parsing.plain_calls import (
    PlainGenerator,
    PrefixOperator,
    build_pad,
    fill,
    read_plus,
    write_call,
    write_infix,
    write_prefix,
)
from execution.parsing.plain_parser import PlainParser

_STRINGS = frozenset(
    (
        TokenType.BYTE_STRING,
        TokenType.HEREDOC_STRING,
        TokenType.STRING,
        TokenType.UNICODE_STRING,
    )
)
# After an interval's text, these units cut off smaller parts.
_CUTTING_UNITS = frozenset(("YEAR", "MONTH", "DAY", "HOUR", "MINUTE"))
_PREFIXES = frozenset(("|/", "||/", "@"))
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")


class InfixOperator(exp.Expression, exp.Binary):
    """An infix operator that sqlglot reads as a call: ``^@``."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True, "operator": True}


def _build_series(args: list[Any]) -> exp.Expr:
    start, end, step = fill(args, 3)
    return exp.GenerateSeries(start=start, end=end, step=step)


def _build_regexp_replace(args: list[Any]) -> exp.Expr:
    # The fourth argument may be the flags or a start: the keys' names have no meaning here.
    text, pattern, new, fourth, fifth, sixth = fill(args, 6)
    return exp.RegexpReplace(
        this=text,
        expression=pattern,
        replacement=new,
        position=fourth,
        occurrence=fifth,
        modifiers=sixth,
    )


def _build_char_literal(parser: PostgresParser, this: exp.Expr, kind: exp.DataType) -> exp.Expr:
    """``char 'abc'`` has no length, ``'abc'::char`` has one letter."""
    to = kind if kind.expressions else exp.DType.BPCHAR.into_expr()
    return parser.expression(exp.Cast(this=this, to=to))


def _read_arrow(kind: type[exp.Expr]) -> Callable[[PostgresParser, exp.Expr, exp.Expr], exp.Expr]:
    return lambda parser, this, path: parser.expression(kind(this=this, expression=path))


def _read_infix(parser: PostgresParser, this: exp.Expr) -> exp.Expr:
    operator = parser._prev.text
    return parser.expression(
        InfixOperator(this=this, expression=parser._parse_bitwise(), operator=operator)
    )


def _read_prefix(parser: PostgresParser) -> exp.Expr | None:
    operator = parser._prev.text
    if operator not in _PREFIXES:
        # `$1` has the same token type as `@`.
        return parser._parse_parameter()
    return parser.expression(PrefixOperator(this=parser._parse_unary(), operator=operator))


def _write_current_time(generator: PostgresGenerator, node: exp.CurrentTime) -> str:
    """Writes CURRENT_TIME without the empty parentheses of sqlglot, which PostgreSQL refuses."""
    return f"CURRENT_TIME({generator.sql(node, 'this')})" if node.this else "CURRENT_TIME"


class GuardedPostgres(Postgres):
    """The dialect in which the guard parses and renders queries on PostgreSQL."""

    # A subscript stays the number that was written.
    INDEX_OFFSET = 0

    class Tokenizer(Postgres.Tokenizer):
        """The tokenizer of sqlglot."""

    class Parser(PlainParser, PostgresParser):
        """Functions stay names."""

        INTERVAL_AMOUNTS: ClassVar[frozenset[TokenType]] = _STRINGS

        FUNCTIONS: ClassVar[dict[str, Callable[[list[Any]], exp.Expr]]] = {
            "GENERATE_SERIES": _build_series,
            "LPAD": build_pad(is_left=True),
            "REGEXP_REPLACE": _build_regexp_replace,
            "REPEAT": exp.Repeat.from_arg_list,
            "REPLACE": exp.Replace.from_arg_list,
            "RPAD": build_pad(is_left=False),
        }
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: PostgresParser.FUNCTION_PARSERS[name]
            for name in ("CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "TRIM")
        }
        JSON_OPERATORS: ClassVar[dict[TokenType, Any]] = {
            **PostgresParser.JSON_OPERATORS,
            TokenType.ARROW: _read_arrow(exp.JSONExtract),
            TokenType.DARROW: _read_arrow(exp.JSONExtractScalar),
        }
        PRIMARY_PARSERS: ClassVar[dict[TokenType, Any]] = {
            **PostgresParser.PRIMARY_PARSERS,
            TokenType.BIT_STRING: lambda self, token: self.parse_based(token),
            TokenType.BYTE_STRING: lambda self, token: self.parse_escaped(token),
            TokenType.HEREDOC_STRING: PostgresParser.PRIMARY_PARSERS[TokenType.STRING],
            TokenType.HEX_STRING: lambda self, token: self.parse_based(token),
            TokenType.NUMBER: lambda self, token: self.parse_number(token),
            TokenType.UNICODE_STRING: lambda self, token: self.parse_escaped(token),
        }
        RANGE_PARSERS: ClassVar[dict[TokenType, Any]] = {
            **PostgresParser.RANGE_PARSERS,
            TokenType.CARET_AT: _read_infix,
        }
        TYPE_LITERAL_PARSERS: ClassVar[dict[exp.DType, Callable[..., exp.Expr]]] = {
            exp.DType.CHAR: _build_char_literal,
            exp.DType.NCHAR: _build_char_literal,
        }
        UNARY_PARSERS: ClassVar[dict[TokenType, Any]] = {
            **PostgresParser.UNARY_PARSERS,
            TokenType.PLUS: read_plus,
            TokenType.PIPE_SLASH: _read_prefix,
            TokenType.DPIPE_SLASH: _read_prefix,
            TokenType.PARAMETER: _read_prefix,
        }

        def _parse_type(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
            is_interval = self._curr.token_type == TokenType.INTERVAL
            if is_interval and self._next.token_type == TokenType.L_PAREN:
                # sqlglot ignores the number, which rounds seconds.
                self.raise_error("INTERVAL with a precision is not allowed")
            parsed: exp.Expr | None = super()._parse_type(*args, **kwargs)
            return parsed

        def _parse_interval_span(self, this: exp.Expr, *_args: Any, **_kwargs: Any) -> exp.Interval:
            unit = self._curr.text.upper()
            is_span = self._next.text.upper() == "TO"
            if unit in _CUTTING_UNITS and not (is_span or _WHOLE_NUMBER.fullmatch(this.name)):
                # INTERVAL '1.5' DAY is one day, INTERVAL '1.5 DAY' is not.
                self.raise_error(f"Write the unit within the quotes: INTERVAL '… {unit}'")
            # SECOND (3) rounds too, and is not a function.
            return super()._parse_interval_span(this, parse_function_unit=False)

        def parse_number(self, token: Token) -> exp.Expr:
            """A number with all characters that touch it: ``1_000``, ``0o17``."""
            text = token.text
            rest = self._curr
            if rest and rest.token_type == TokenType.VAR and rest.start == token.end + 1:
                self._advance()
                try:
                    # Python has the same integer literals as PostgreSQL.
                    text = str(int(text + rest.text, 0))
                except ValueError:
                    self.raise_error("This is no number.", token)
            return exp.Literal.number(text)

        def parse_based(self, token: Token) -> exp.Expr:
            """``0x1F`` as a number; ``X'1F'`` is not one."""
            written = self.sql[token.start : token.end + 1]
            if not written.startswith("0"):
                kind = exp.HexString if token.token_type == TokenType.HEX_STRING else exp.BitString
                return self.expression(kind(this=token.text))
            return exp.Literal.number(int(written, 0))

        def parse_escaped(self, token: Token) -> exp.Expr:
            """``E'…'`` or ``U&'…'`` as the text that PostgreSQL's own grammar reads."""
            written = self.sql[token.start : token.end + 1]
            try:
                targets = postgast.parse(f"SELECT {written}").stmts[0].stmt.select_stmt.target_list
            except postgast.PgQueryError:
                targets = []
            if len(targets) != 1 or not targets[0].res_target.val.a_const.HasField("sval"):
                self.raise_error("PostgreSQL's grammar does not accept this string.", token)
            return exp.Literal.string(targets[0].res_target.val.a_const.sval.sval)

    class Generator(PlainGenerator, PostgresGenerator):
        """Everything is written as it was read."""

        MULTI_ARG_DISTINCT = True
        TRANSFORMS: ClassVar[dict[type[exp.Expr], Any]] = {
            **PostgresGenerator.TRANSFORMS,
            # sqlglot drops the other elements of an array that begins with a query.
            exp.Array: lambda self, node: f"ARRAY{inline_array_sql(self, node)}",
            exp.CurrentTime: _write_current_time,
            exp.JSONExtract: write_infix("->"),
            exp.JSONExtractScalar: write_infix("->>"),
            exp.Pow: write_infix("^"),
            exp.RegexpReplace: write_call(
                "REGEXP_REPLACE",
                "this",
                "expression",
                "replacement",
                "position",
                "occurrence",
                "modifiers",
            ),
            InfixOperator: lambda self, node: self.binary(node, node.args["operator"]),
            PrefixOperator: write_prefix,
        }
