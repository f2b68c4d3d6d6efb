"""The guard's dialect of SQLite: sqlglot's, without its translations.

sqlglot's SQLite dialect turns functions into nodes that are common to all databases, and spells
them anew: ``CAST(x AS DATE)`` becomes ``DATE(x)``, which has another value. Here a function stays a
name with arguments (``replace`` has a node, since ``growing_calls.py`` measures it), a cast is to
one of SQLite's five affinities, the path of ``->`` stays text. Names that need quotes are written
in backticks: SQLite reads a name in double quotes as a string if it does not find it.

Knows nothing of catalogs or allowlists.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.generators.sqlite import SQLiteGenerator
from sqlglot.parsers.sqlite import SQLiteParser
from sqlglot.tokenizer_core import TokenType

from execution.parsing.plain_calls import PlainGenerator, PrefixOperator, read_plus, write_prefix

# The parts of type names that determine the affinity, in order (sqlite.org/datatype3.html, 3.1).
_AFFINITIES = (
    ("INTEGER", ("INT",)),
    ("TEXT", ("CHAR", "CLOB", "TEXT")),
    ("BLOB", ("BLOB",)),
    ("REAL", ("REAL", "FLOA", "DOUB")),
)


class GuardedSqlite(SQLite):
    """The dialect in which the guard parses and renders queries on SQLite."""

    class Tokenizer(SQLite.Tokenizer):
        """The first pair of quotes is used for rendering."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`", '"', ("[", "]")]

    class Parser(SQLiteParser):
        """Functions stay names."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {"REPLACE": exp.Replace.from_arg_list}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {"CAST": lambda self: self.parse_cast()}
        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            "CASE": SQLiteParser.NO_PAREN_FUNCTION_PARSERS["CASE"]
        }
        NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, Any]] = {
            TokenType.CURRENT_DATE: exp.CurrentDate,
            TokenType.CURRENT_TIME: exp.CurrentTime,
            TokenType.CURRENT_TIMESTAMP: exp.CurrentTimestamp,
        }
        UNARY_PARSERS: ClassVar[dict[TokenType, Any]] = {
            **SQLiteParser.UNARY_PARSERS,
            TokenType.PLUS: read_plus,
        }
        LAMBDAS: ClassVar[dict[TokenType, Any]] = {}
        # A comma stays a comma: CROSS JOIN would make SQLite's planner keep the order.
        JOINS_HAVE_EQUAL_PRECEDENCE = False
        CONCAT_OPERATORS: ClassVar[dict[TokenType, Any]] = {
            **SQLiteParser.CONCAT_OPERATORS,
            TokenType.ARROW: lambda self, this, path: self.expression(
                exp.JSONExtract(this=this, expression=path)
            ),
            TokenType.DARROW: lambda self, this, path: self.expression(
                exp.JSONExtractScalar(this=this, expression=path)
            ),
        }

        def parse_cast(self) -> exp.Expr:
            """Parses ``x AS any words`` up to the closing parenthesis; the type is the affinity."""
            value = self._parse_disjunction()
            if not self._match(TokenType.ALIAS):
                self.raise_error("Expected AS after CAST(")
            words = []
            while self._curr and self._curr.token_type not in (
                TokenType.L_PAREN,
                TokenType.R_PAREN,
            ):
                words.append(self._curr.text.upper())
                self._advance()
            if self._match(TokenType.L_PAREN):
                self._parse_csv(self._parse_number)
                self._match_r_paren()
            affinity = next(
                (
                    affinity
                    for affinity, parts in _AFFINITIES
                    if any(part in word for word in words for part in parts)
                ),
                "NUMERIC",
            )
            kind = exp.DataType(this=exp.DType.USERDEFINED, kind=affinity)
            return self.expression(exp.Cast(this=value, to=kind))

    class Generator(PlainGenerator, SQLiteGenerator):
        """Casts are written as they were read."""

        TRANSFORMS: ClassVar[dict[type[exp.Expr], Any]] = {
            **SQLiteGenerator.TRANSFORMS,
            PrefixOperator: write_prefix,
        }

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            """``CAST(x AS affinity)``, never a function."""
            return f"CAST({self.sql(expression, 'this')} AS {self.sql(expression, 'to')})"
