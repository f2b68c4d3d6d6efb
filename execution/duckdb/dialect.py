"""The guard's dialect of DuckDB: sqlglot's, without its translations.

sqlglot's DuckDB dialect turns functions into nodes that are common to all databases, and spells
them anew. Here a function stays a name with arguments, operators keep their form, the path of
``->`` stays text: DuckDB gets the query as it was written. Functions that ``growing_calls.py``
measures (generators of rows, functions that make text longer) keep their nodes, which are written
as read.

Knows nothing of catalogs or allowlists. Does not support lambdas: a query with one is refused.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import TokenError
from sqlglot.generators.duckdb import DuckDBGenerator
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.tokenizer_core import Token, TokenType

from execution.duckdb.second_check import parse_statement
from execution.parsing.plain_dialect import (
    LENGTHENING,
    PLAIN_TRANSFORMS,
    Builder,
    PlainGenerator,
    PlainParser,
    SpanningParser,
    build_call,
    fill,
    read_plus,
    split_operators,
    write_call,
    write_infix,
)
from nl2sql.types import Violation


def _build_series(exclusive: bool) -> Builder:
    def build(args: list[Any]) -> exp.Expr:
        # A single argument is the end; the start is 0.
        start, end, step = fill(args if len(args) > 1 else [_ZERO.copy(), *args], 3)
        return exp.GenerateSeries(start=start, end=end, step=step, is_end_exclusive=exclusive)

    return build


_ZERO = exp.Literal.number(0)

# Zero width space, word joiner, byte order mark: the characters that DuckDB 2.0 reads as spaces
# and Python does not.
_SPACES = frozenset("\u200b\u2060\ufeff")
_SIGNS = re.compile(r"[-+*/<>=~!@#%^&|`?]+")
_REGEXP_KEYS = ("this", "expression", "replacement", "modifiers")
_QUOTED = (TokenType.IDENTIFIER, TokenType.STRING)
_STRINGS = (TokenType.BYTE_STRING, TokenType.HEREDOC_STRING, TokenType.RAW_STRING, TokenType.STRING)
_INTERVAL_AMOUNTS = frozenset((*_STRINGS, TokenType.L_PAREN, TokenType.NUMBER))


def _reads_more(sql: str, token: Token) -> bool:
    """Whether DuckDB reads the operator and signs behind it as one, longer operator: ``-~``."""
    signs = _SIGNS.match(sql, token.start)
    if signs is None or token.token_type in _QUOTED:
        return False
    run = split_operators(signs[0])[0]
    # sqlglot has two tokens for a shift.
    return len(run) > token.end + 1 - token.start and run not in ("<<", ">>")


class GuardedDuckdb(DuckDB):
    """The dialect in which the guard parses and renders queries on DuckDB."""

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        """The path as it was written: in DuckDB, ``'a.b'`` is one key."""
        return path

    class Tokenizer(DuckDB.Tokenizer):
        """Refuses what is a space or a factorial in DuckDB, but a letter or NOT in sqlglot."""

        def tokenize(self, sql: str) -> list[Token]:
            """The tokens of ``sql``. Raises TokenError."""
            tokens = super().tokenize(sql)
            for token in tokens:
                if token.token_type not in _QUOTED and not _SPACES.isdisjoint(token.text):
                    raise TokenError("A space without width is not allowed outside quotes.")
                if token.token_type == TokenType.NOT and token.text == "!":
                    # In DuckDB it is the factorial of the expression before it.
                    raise TokenError("! is not allowed: write NOT.")
                if token.token_type == TokenType.PARAMETER and token.text == "@":
                    raise TokenError("@ is not allowed: write ABS(x).")
                if _reads_more(sql, token):
                    raise TokenError(f"Write a space behind the operator {token.text}.")
            return tokens

    class Parser(SpanningParser, PlainParser, DuckDBParser):
        """Functions stay names."""

        INTERVAL_AMOUNTS: ClassVar[frozenset[TokenType]] = _INTERVAL_AMOUNTS

        FUNCTIONS: ClassVar[dict[str, Builder]] = {
            **LENGTHENING,
            "GENERATE_SERIES": _build_series(exclusive=False),
            "RANGE": _build_series(exclusive=True),
            "REGEXP_REPLACE": build_call(exp.RegexpReplace, *_REGEXP_KEYS),
        }
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            **{
                name: DuckDBParser.FUNCTION_PARSERS[name]
                for name in ("CAST", "POSITION", "SUBSTRING", "TRIM", "TRY_CAST")
            },
            "EXTRACT": lambda self: self.parse_extract(),
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: DuckDBParser.NO_PAREN_FUNCTION_PARSERS[name] for name in ("CASE", "MAP")
        }
        PRIMARY_PARSERS: ClassVar[dict[TokenType, Any]] = {
            **DuckDBParser.PRIMARY_PARSERS,
            TokenType.BYTE_STRING: lambda self, token: self.parse_escaped(token),
            TokenType.HEREDOC_STRING: DuckDBParser.PRIMARY_PARSERS[TokenType.STRING],
            TokenType.RAW_STRING: DuckDBParser.PRIMARY_PARSERS[TokenType.STRING],
        }
        # In DuckDB <=> is the distance of two arrays, as <-> is.
        FACTOR: ClassVar[dict[TokenType, Any]] = {
            **DuckDBParser.FACTOR,
            TokenType.NULLSAFE_EQ: exp.CosineDistance,
        }
        EQUALITY: ClassVar[dict[TokenType, Any]] = {
            token: kind
            for token, kind in DuckDBParser.EQUALITY.items()
            if token != TokenType.NULLSAFE_EQ
        }
        UNARY_PARSERS: ClassVar[dict[TokenType, Any]] = {
            **DuckDBParser.UNARY_PARSERS,
            TokenType.PLUS: read_plus,
        }

        def parse_escaped(self, token: Token) -> exp.Expr:
            """``E'…'`` as the text that DuckDB's own grammar reads."""
            tree = parse_statement(f"SELECT {self.sql[token.start : token.end + 1]}")
            outputs = [] if isinstance(tree, Violation) else tree["select_list"]
            if len(outputs) != 1 or outputs[0]["type"] != "VALUE_CONSTANT":
                self.raise_error("DuckDB's grammar does not accept this string.", token)
            return exp.Literal.string(outputs[0]["literal"]["text"])

        def _parse_dcolon(self) -> exp.Expr | None:
            kind: exp.Expr | None = super()._parse_dcolon()
            if self._curr.token_type == TokenType.DOT:
                # In DuckDB the dot belongs to the type's name.
                self.raise_error("Write parentheses around a cast before a dot")
            return kind

        def _parse_in(self, this: exp.Expr | None, alias: bool = False) -> exp.In:
            if self._curr.token_type == TokenType.L_BRACKET:
                # Unlike in parentheses, a NULL in a list makes nothing unknown.
                return self.expression(exp.In(this=this, field=self._parse_bitwise()))
            return super()._parse_in(this, alias)

        def _parse_primary(self) -> exp.Expr | None:
            if self._match_pair(TokenType.DOT, TokenType.NUMBER):
                # The type differs from that of 0.5, which has one digit more.
                return exp.Literal.number(f".{self._prev.text}")
            return super()._parse_primary()

        def parse_extract(self) -> exp.Expr:
            """Parses ``EXTRACT(part FROM x)`` into the call that DuckDB makes of it."""
            part = self._parse_string() or self._parse_var(any_token=True, upper=True)
            if part is None or not self._match(TokenType.FROM):
                self.raise_error("Expected EXTRACT(part FROM expression)")
            value = self._parse_disjunction()
            name = "" if part is None else part.name
            return exp.Anonymous(this="DATE_PART", expressions=[exp.Literal.string(name), value])

    class Generator(PlainGenerator, DuckDBGenerator):
        """Everything is written as it was read."""

        MULTI_ARG_DISTINCT = True
        TRANSFORMS: ClassVar[dict[type[exp.Expr], Any]] = {
            **DuckDBGenerator.TRANSFORMS,
            **PLAIN_TRANSFORMS,
            exp.BitwiseAnd: write_infix("&"),
            exp.BitwiseLeftShift: write_infix("<<"),
            exp.BitwiseOr: write_infix("|"),
            exp.BitwiseRightShift: write_infix(">>"),
            exp.CosineDistance: write_infix("<=>"),
            # Inside the call, as DuckDB requires.
            exp.IgnoreNulls: lambda self, node: f"{self.sql(node, 'this')} IGNORE NULLS",
            exp.Mod: write_infix("%"),
            exp.Pow: write_infix("**"),
            exp.RegexpLike: write_infix("~"),
            exp.Repeat: write_call("REPEAT", "this", "times"),
            exp.RegexpReplace: write_call("REGEXP_REPLACE", *_REGEXP_KEYS),
            exp.Replace: write_call("REPLACE", "this", "expression", "replacement"),
            exp.RespectNulls: lambda self, node: f"{self.sql(node, 'this')} RESPECT NULLS",
            exp.StartsWith: write_infix("^@"),
            exp.Substring: write_call("SUBSTRING", "this", "start", "length", "zero_start"),
        }

        def withingroup_sql(self, expression: exp.WithinGroup) -> str:
            """The order stays after the call."""
            order = self.sql(expression, "expression").lstrip()
            return f"{self.sql(expression, 'this')} WITHIN GROUP ({order})"
