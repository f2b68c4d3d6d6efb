"""DuckDB as the guard reads and writes it: sqlglot's dialect, less everything that it translates.

sqlglot's own DuckDB turns functions into nodes that stand for their kind in any database, and
spells them anew. Here a function stays a name with arguments, operators stay where they stood, the
path of ``->`` stays text: DuckDB gets the words that were asked for. What ``growing_calls.py``
measures (generators of rows, functions that make text longer) keeps its nodes, which are written as
read.

Knows nothing of catalogs or allowlists. Does not cover ``<=>``, which sqlglot takes for another
operator, and lambdas: a query with one is refused.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import TokenError
from sqlglot.generators.duckdb import DuckDBGenerator
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.tokenizer_core import Token, TokenType

from execution.duckdb.grammar import parse_statement
from execution.parsing.plain_calls import (
    Builder,
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
from nl2sql.types import Violation


def _build_series(exclusive: bool) -> Builder:
    def build(args: list[Any]) -> exp.Expr:
        # With one argument, that is the end and the start is 0.
        start, end, step = fill(args if len(args) > 1 else [_ZERO.copy(), *args], 3)
        return exp.GenerateSeries(start=start, end=end, step=step, is_end_exclusive=exclusive)

    return build


def _build_regexp_replace(args: list[Any]) -> exp.Expr:
    text, pattern, replacement, options = fill(args, 4)
    return exp.RegexpReplace(
        this=text, expression=pattern, replacement=replacement, modifiers=options
    )


_ZERO = exp.Literal.number(0)

# Zero width space, word joiner, byte order mark: of all letters, DuckDB 2.0 takes these for spaces
# and Python does not.
_SPACES = frozenset("\u200b\u2060\ufeff")
_QUOTED = (TokenType.IDENTIFIER, TokenType.STRING)
_INTERVAL_AMOUNTS = frozenset(
    (
        TokenType.BYTE_STRING,
        TokenType.HEREDOC_STRING,
        TokenType.L_PAREN,
        TokenType.NUMBER,
        TokenType.RAW_STRING,
        TokenType.STRING,
    )
)


class GuardedDuckdb(DuckDB):
    """The dialect in which the guard parses and renders queries on DuckDB."""

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        """The path as it was written: ``'a.b'`` is one key to DuckDB."""
        return path

    class Tokenizer(DuckDB.Tokenizer):
        """Refuses what DuckDB takes for a space or a factorial, and sqlglot for a letter or NOT."""

        def tokenize(self, sql: str) -> list[Token]:
            """The words of ``sql``. Raises TokenError."""
            tokens = super().tokenize(sql)
            for token in tokens:
                if token.token_type not in _QUOTED and not _SPACES.isdisjoint(token.text):
                    raise TokenError("A space without width is not allowed outside quotes.")
                if token.token_type == TokenType.NOT and token.text == "!":
                    # To DuckDB it is the factorial of what stands before it.
                    raise TokenError("! is not allowed: write NOT, or FACTORIAL(x).")
            return tokens

    class Parser(PlainParser, DuckDBParser):
        """Functions stay names."""

        INTERVAL_AMOUNTS: ClassVar[frozenset[TokenType]] = _INTERVAL_AMOUNTS

        FUNCTIONS: ClassVar[dict[str, Builder]] = {
            "GENERATE_SERIES": _build_series(exclusive=False),
            "LPAD": build_pad(is_left=True),
            "RANGE": _build_series(exclusive=True),
            "REGEXP_REPLACE": _build_regexp_replace,
            "REPEAT": exp.Repeat.from_arg_list,
            "REPLACE": exp.Replace.from_arg_list,
            "RPAD": build_pad(is_left=False),
        }
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            "CAST": DuckDBParser.FUNCTION_PARSERS["CAST"],
            "EXTRACT": lambda self: self.parse_extract(),
            "POSITION": lambda self: self.parse_position(),
            "SUBSTRING": lambda self: self.parse_substring(),
            "TRIM": lambda self: self.parse_trim(),
            "TRY_CAST": DuckDBParser.FUNCTION_PARSERS["TRY_CAST"],
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: DuckDBParser.NO_PAREN_FUNCTION_PARSERS[name] for name in ("CASE", "MAP")
        }
        NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, Any]] = {
            TokenType.CURRENT_DATE: exp.CurrentDate,
            TokenType.CURRENT_TIME: exp.CurrentTime,
            TokenType.CURRENT_TIMESTAMP: exp.CurrentTimestamp,
        }
        PRIMARY_PARSERS: ClassVar[dict[TokenType, Any]] = {
            **DuckDBParser.PRIMARY_PARSERS,
            TokenType.BYTE_STRING: lambda self, token: self.parse_escaped(token),
            TokenType.HEREDOC_STRING: DuckDBParser.PRIMARY_PARSERS[TokenType.STRING],
            TokenType.RAW_STRING: DuckDBParser.PRIMARY_PARSERS[TokenType.STRING],
        }
        # To DuckDB <=> is the distance of two arrays.
        EQUALITY: ClassVar[dict[TokenType, Any]] = {
            token: kind
            for token, kind in DuckDBParser.EQUALITY.items()
            if token != TokenType.NULLSAFE_EQ
        }
        UNARY_PARSERS: ClassVar[dict[TokenType, Any]] = {
            **DuckDBParser.UNARY_PARSERS,
            TokenType.PLUS: read_plus,
        }
        # An arrow is JSON's; what takes a lambda is on no allowlist.
        LAMBDAS: ClassVar[dict[TokenType, Any]] = {}

        def parse_escaped(self, token: Token) -> exp.Expr:
            """``E'…'`` as the text that DuckDB's own grammar makes of it."""
            tree = parse_statement(f"SELECT {self.sql[token.start : token.end + 1]}")
            outputs = [] if isinstance(tree, Violation) else tree["select_list"]
            if len(outputs) != 1 or outputs[0]["type"] != "VALUE_CONSTANT":
                self.raise_error("DuckDB's grammar does not accept this string.", token)
            return exp.Literal.string(outputs[0]["literal"]["text"])

        def _parse_primary(self) -> exp.Expr | None:
            if self._match_pair(TokenType.DOT, TokenType.NUMBER):
                # Of another type than 0.5, which has one digit more.
                return exp.Literal.number(f".{self._prev.text}")
            return super()._parse_primary()

        def parse_extract(self) -> exp.Expr:
            """``EXTRACT(part FROM x)`` as the call that DuckDB makes of it."""
            part = self._parse_string() or self._parse_var(any_token=True, upper=True)
            if part is None or not self._match(TokenType.FROM):
                self.raise_error("Expected EXTRACT(part FROM expression)")
            value = self._parse_disjunction()
            name = "" if part is None else part.name
            return _call("DATE_PART", exp.Literal.string(name), value)

        def parse_position(self) -> exp.Expr:
            """``POSITION(x IN y)`` as the call of its other name."""
            sought = self._parse_bitwise()
            if not self._match(TokenType.IN):
                self.raise_error("Expected POSITION(text IN text)")
            return _call("STRPOS", self._parse_bitwise(), sought)

        def parse_substring(self) -> exp.Expr:
            """``SUBSTRING(x FROM y FOR z)``, or with commas."""
            args: list[Any] = self._parse_csv(self._parse_disjunction)
            if self._match(TokenType.FROM):
                args.append(self._parse_disjunction())
            elif self._curr and self._curr.token_type == TokenType.FOR:
                args.append(exp.Literal.number(1))
            if self._match(TokenType.FOR):
                args.append(self._parse_disjunction())
            return _call("SUBSTRING", *args)

        def parse_trim(self) -> exp.Expr:
            """``TRIM(BOTH x FROM y)``, or with commas."""
            side = self._prev.text.upper() if self._match_texts(self.TRIM_TYPES) else "BOTH"
            args: list[Any] = []
            if not self._match(TokenType.FROM):
                args = self._parse_csv(self._parse_bitwise)
                if self._match(TokenType.FROM):
                    args = [self._parse_bitwise(), *args]
            else:
                args = [self._parse_bitwise()]
            return _call({"LEADING": "LTRIM", "TRAILING": "RTRIM"}.get(side, "TRIM"), *args)

    class Generator(PlainGenerator, DuckDBGenerator):
        """Everything is written as it was read."""

        MULTI_ARG_DISTINCT = True
        TRANSFORMS: ClassVar[dict[type[exp.Expr], Any]] = {
            **DuckDBGenerator.TRANSFORMS,
            exp.BitwiseAnd: write_infix("&"),
            exp.BitwiseLeftShift: write_infix("<<"),
            exp.BitwiseOr: write_infix("|"),
            exp.BitwiseRightShift: write_infix(">>"),
            exp.JSONExtract: write_infix("->"),
            exp.JSONExtractScalar: write_infix("->>"),
            exp.Mod: write_infix("%"),
            exp.Pow: write_infix("**"),
            exp.Repeat: write_call("REPEAT", "this", "times"),
            exp.RegexpReplace: write_call(
                "REGEXP_REPLACE", "this", "expression", "replacement", "modifiers"
            ),
            exp.Replace: write_call("REPLACE", "this", "expression", "replacement"),
            PrefixOperator: write_prefix,
        }

        def ignorenulls_sql(self, expression: exp.IgnoreNulls) -> str:
            """Within the call, where DuckDB wants it."""
            return f"{self.sql(expression, 'this')} IGNORE NULLS"

        def respectnulls_sql(self, expression: exp.RespectNulls) -> str:
            """Within the call, where DuckDB wants it."""
            return f"{self.sql(expression, 'this')} RESPECT NULLS"

        def withingroup_sql(self, expression: exp.WithinGroup) -> str:
            """The order stays behind the call."""
            order = self.sql(expression, "expression").lstrip()
            return f"{self.sql(expression, 'this')} WITHIN GROUP ({order})"


def _call(name: str, *args: Any) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[arg for arg in args if arg is not None])
