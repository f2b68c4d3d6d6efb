"""The guard's dialect of PostgreSQL: sqlglot's, without its translations.

sqlglot's PostgreSQL dialect turns functions into nodes that are common to all databases, and spells
them anew: ``date_part`` becomes ``EXTRACT``, which has another type, ``to_hex`` becomes ``hex``,
which does not exist. Here a function stays a name with arguments, an operator the signs that
PostgreSQL's lexer reads (``lexemes.py``), with PostgreSQL's precedence, and a string its value,
however it was quoted. Functions that ``growing_calls.py`` measures (generators of rows, functions
that make text longer) keep their nodes, which are written as read. ``pg_catalog.f`` becomes ``f``,
so that a schema hides no function from checks by name.

Knows nothing of catalogs or allowlists. ``meaning.py`` checks each text against PostgreSQL's own
reading.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import inline_array_sql
from sqlglot.dialects.postgres import Postgres
from sqlglot.generators.postgres import PostgresGenerator
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.tokenizer_core import Token, TokenType

from execution.parsing.plain_dialect import (
    LENGTHENING,
    PLAIN_TRANSFORMS,
    Builder,
    InfixOperator,
    PlainGenerator,
    PlainParser,
    PrefixOperator,
    build_call,
    read_plus,
    write_call,
    write_infix,
)
from execution.postgres.lexemes import OPERATOR, regroup_tokens

_UNITS = frozenset(("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"))
# The fourth argument may be the flags or a start: the names mean nothing here.
_REGEXP_KEYS = ("this", "expression", "replacement", "position", "occurrence", "modifiers")
_NAMES = frozenset((TokenType.IDENTIFIER, TokenType.VAR))
_CHARS = frozenset((TokenType.CHAR, TokenType.NCHAR))
# Operators whose nodes are measured. All operators without a rule of their own in PostgreSQL's
# grammar have one precedence.
_INFIX_NODES: dict[str, type[exp.Binary]] = {
    "||": exp.DPipe,
    "&": exp.BitwiseAnd,
    "|": exp.BitwiseOr,
    "#": exp.BitwiseXor,
    "<<": exp.BitwiseLeftShift,
    ">>": exp.BitwiseRightShift,
    "->": exp.JSONExtract,
    "->>": exp.JSONExtractScalar,
    "#>": exp.JSONBExtract,
    "#>>": exp.JSONBExtractScalar,
    "@>": exp.ArrayContainsAll,
    "<@": exp.ArrayContainedBy,
    "&&": exp.ArrayOverlaps,
    "@?": exp.JSONBPathExists,
    "~": exp.RegexpLike,
    "~*": exp.RegexpILike,
}


def _build_infix(operator: str, this: exp.Expr | None, other: exp.Expr | None) -> exp.Expr:
    if operator == "@@":
        return exp.MatchAgainst(this=other, expressions=[this])
    if kind := _INFIX_NODES.get(operator):
        return kind(this=this, expression=other)
    return InfixOperator(this=this, expression=other, signs=operator)


def _read_prefix(parser: PostgresParser) -> exp.Expr:
    operator = parser._prev.text
    return parser.expression(PrefixOperator(this=parser._parse_term(), operator=operator))


def _write_current_time(generator: PostgresGenerator, node: exp.CurrentTime) -> str:
    """Writes CURRENT_TIME without the empty parentheses of sqlglot, which PostgreSQL refuses."""
    return f"CURRENT_TIME({generator.sql(node, 'this')})" if node.this else "CURRENT_TIME"


def _write_infix_operator(generator: PostgresGenerator, node: InfixOperator) -> str:
    # Generator.binary writes one operator for a chain of nodes of one type.
    this, other = generator.sql(node, "this"), generator.sql(node, "expression")
    return f"{this} {node.args['signs']} {other}"


def _write_interval(generator: PostgresGenerator, node: exp.Interval) -> str:
    """The text and the unit apart, as written: ``'1.5' DAY`` is not ``'1.5 DAY'``."""
    unit = generator.sql(node, "unit")
    return f"INTERVAL {generator.sql(node, 'this')}{unit and ' '}{unit}"


class GuardedPostgres(Postgres):
    """The dialect in which the guard parses and renders queries on PostgreSQL."""

    # A subscript stays the number that was written.
    INDEX_OFFSET = 0

    def tokenize(self, sql: str, *args: Any, **kwargs: Any) -> list[Token]:
        """The tokens as PostgreSQL groups them. Raises TokenError."""
        return list(regroup_tokens(super().tokenize(sql, *args, **kwargs), sql))

    class Tokenizer(Postgres.Tokenizer):
        """Reads operator signs one by one, for ``lexemes.py`` to group."""

        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            text: kind
            for text, kind in Postgres.Tokenizer.KEYWORDS.items()
            if text[0].isalpha() or text in ("::", ":=")
        }

    class Parser(PlainParser, PostgresParser):
        """Functions stay names."""

        INTERVAL_AMOUNTS: ClassVar[frozenset[TokenType]] = frozenset((TokenType.STRING,))
        FUNCTIONS: ClassVar[dict[str, Builder]] = {
            **LENGTHENING,
            "GENERATE_SERIES": build_call(exp.GenerateSeries, "start", "end", "step"),
            "REGEXP_REPLACE": build_call(exp.RegexpReplace, *_REGEXP_KEYS),
        }
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: PostgresParser.FUNCTION_PARSERS[name]
            for name in ("CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "TRIM")
        }
        # Without lambdas: `->` is an operator.
        LAMBDAS: ClassVar[dict[TokenType, Any]] = {
            TokenType.FARROW: PostgresParser.LAMBDAS[TokenType.FARROW]
        }
        PRIMARY_PARSERS: ClassVar[dict[TokenType, Any]] = {
            **PostgresParser.PRIMARY_PARSERS,
            TokenType.BIT_STRING: lambda self, token: self.parse_bits(token),
            TokenType.HEX_STRING: lambda self, token: self.parse_bits(token),
        }
        UNARY_PARSERS: ClassVar[dict[TokenType, Any]] = {
            TokenType.NOT: PostgresParser.UNARY_PARSERS[TokenType.NOT],
            TokenType.DASH: PostgresParser.UNARY_PARSERS[TokenType.DASH],
            TokenType.PLUS: read_plus,
            OPERATOR: _read_prefix,
        }

        def _parse_bitwise(self) -> exp.Expr | None:
            this = self._parse_term()
            while True:
                if self._match(OPERATOR):
                    operator = self._prev.text
                    this = self.expression(_build_infix(operator, this, self._parse_term()))
                elif self._match_pair(TokenType.OPERATOR, TokenType.L_PAREN):
                    self.raise_error("Write an operator without OPERATOR and schema")
                else:
                    return this

        def _parse_exponent(self) -> exp.Expr | None:
            this = self._parse_at_time_zone(self._parse_unary())
            while self._match(TokenType.CARET):
                other = self._parse_at_time_zone(self._parse_unary())
                this = self.expression(exp.Pow(this=this, expression=other))
            return this

        def _parse_type(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
            first, after = self._curr.token_type, self._next.token_type
            if first == TokenType.INTERVAL and after == TokenType.L_PAREN:
                # sqlglot ignores the number, which rounds seconds.
                self.raise_error("INTERVAL with a precision is not allowed")
            if first in (*_NAMES, *_CHARS) and after == TokenType.STRING:
                # A constant of a type that sqlglot does not know: box '((0,0),(1,1))'. That of
                # `char 'abc'` has no length, that of 'abc'::char has one letter.
                kind = exp.DataType(this=exp.DType.USERDEFINED, kind=self._parse_id_var())
                kind = exp.DType.BPCHAR.into_expr() if first in _CHARS else kind
                cast = exp.Cast(this=self._parse_primary(), to=kind)
                return self._parse_column_ops(self.expression(cast))
            parsed: exp.Expr | None = super()._parse_type(*args, **kwargs)
            return parsed

        def _parse_interval_span(self, this: exp.Expr, *_args: Any, **_kwargs: Any) -> exp.Interval:
            unit: exp.Expr | None = None
            if self._curr.text.upper() in _UNITS:
                unit = self._parse_var(any_token=True, upper=True)
                if self._match_text_seq("TO"):
                    last = self._parse_var(any_token=True, upper=True)
                    unit = self.expression(exp.IntervalSpan(this=unit, expression=last))
            return self.expression(exp.Interval(this=this, unit=unit))

        def parse_bits(self, token: Token) -> exp.Expr:
            """``B'101'`` or ``X'1F'``."""
            kind = exp.HexString if token.token_type == TokenType.HEX_STRING else exp.BitString
            return self.expression(kind(this=token.text))

    class Generator(PlainGenerator, PostgresGenerator):
        """Everything is written as it was read."""

        MULTI_ARG_DISTINCT = True
        TRANSFORMS: ClassVar[dict[type[exp.Expr], Any]] = {
            **PostgresGenerator.TRANSFORMS,
            **PLAIN_TRANSFORMS,
            # sqlglot drops the other elements of an array that begins with a query.
            exp.Array: lambda self, node: f"ARRAY{inline_array_sql(self, node)}",
            exp.BitString: lambda _, node: f"B'{node.name}'",
            exp.CurrentTime: _write_current_time,
            exp.HexString: lambda _, node: f"X'{node.name}'",
            exp.Interval: _write_interval,
            exp.Pow: write_infix("^"),
            exp.RegexpReplace: write_call("REGEXP_REPLACE", *_REGEXP_KEYS),
            InfixOperator: _write_infix_operator,
        }
