"""The guard's dialect of SQLite: sqlglot's, without its translations.

sqlglot's SQLite dialect turns functions into nodes that are common to all databases, and spells
them anew: ``CAST(x AS DATE)`` becomes ``DATE(x)``, which has another value. Here a function stays a
name with arguments (``replace`` has a node, since ``growing_calls.py`` measures it), a cast is to
one of SQLite's five affinities, the path of ``->`` stays text. Names that need quotes are written
in backticks: SQLite reads a name in double quotes as a string if it does not find it.

Names compare without case, and are rendered as the query wrote them. A word in double quotes is a
name if something visible has that name, and a string otherwise; ``name_resolution`` knows what is
visible. If it saw more than SQLite, the word would stay a name, and a name in backticks that SQLite
does not find is an error, never another result.

Knows nothing of catalogs or allowlists.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import TokenError
from sqlglot.generators.sqlite import SQLiteGenerator
from sqlglot.parsers.sqlite import SQLiteParser
from sqlglot.tokenizer_core import Token, TokenType

from execution.parsing.plain_dialect import (
    PLAIN_TRANSFORMS,
    PlainGenerator,
    SpanningParser,
    read_plus,
    write_infix,
)
from nl2sql.sql.names import quote_name

_SPELLING = "spelling"
_IN_DOUBLE_QUOTES = "in_double_quotes"


def record_spelling(tree: exp.Expr, sql: str) -> None:
    """Records on each name its spelling in ``sql``, before case is normalised."""
    for node in tree.walk():
        if isinstance(node, exp.Identifier):
            node.meta[_SPELLING] = node.name
            start = node.meta_get("start")
            node.meta[_IN_DOUBLE_QUOTES] = start is not None and sql[start] == '"'


def is_in_double_quotes(name: exp.Identifier) -> bool:
    """Whether the query wrote the name in double quotes: if nothing has it, it is a string."""
    return bool(name.meta_get(_IN_DOUBLE_QUOTES))


def read_spelling(name: exp.Identifier) -> str:
    """The name in the query's spelling."""
    return str(name.meta_get(_SPELLING) or name.name)


def restore_spelling(tree: exp.Expr) -> None:
    """Restores the query's spelling of each name, with quotes only where needed, in place."""
    for name in tree.find_all(exp.Identifier):
        spelling = read_spelling(name)
        name.set("this", spelling)
        name.set("quoted", quote_name(spelling, "sqlite") != spelling)


# The parts of type names that determine the affinity, in order (sqlite.org/datatype3.html, 3.1).
_AFFINITIES = (
    ("INTEGER", ("INT",)),
    ("TEXT", ("CHAR", "CLOB", "TEXT")),
    ("BLOB", ("BLOB",)),
    ("REAL", ("REAL", "FLOA", "DOUB")),
)

_NUMBERS = (TokenType.NUMBER, TokenType.HEX_STRING)
_BEHIND_A_NUMBER = re.compile(r"[\w$\x80-\U0010ffff]")
_GREATEST = 2**63 - 1


# Strings and quoted names come first: they may contain what looks like a placeholder.
_PLACEHOLDER = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`)|\?(\d+)""")


def name_placeholders(sql: str) -> str:
    """Writes ``?1`` as ``:p1``: sqlglot does not read a number after a question mark.

    >>> name_placeholders("SELECT `?1` FROM t WHERE x = ?2")
    'SELECT `?1` FROM t WHERE x = :p2'
    """
    return _PLACEHOLDER.sub(lambda found: found[1] or f":p{found[2]}", sql)


class GuardedSqlite(SQLite):
    """The dialect in which the guard parses and renders queries on SQLite."""

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        """The path as it was written."""
        return path

    class Tokenizer(SQLite.Tokenizer):
        """The first pair of quotes is used for rendering."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`", '"', ("[", "]")]

        def tokenize(self, sql: str) -> list[Token]:
            """The tokens of ``sql``. Raises TokenError for a word that begins with a digit."""
            tokens = super().tokenize(sql)
            for token, following in pairwise(tokens):
                is_number = token.token_type in _NUMBERS and sql[token.end] != "'"
                if is_number and _BEHIND_A_NUMBER.match(sql, token.end + 1):
                    # sqlglot takes what follows for an alias, SQLite for an error or a number.
                    word = sql[token.start : following.end + 1]
                    raise TokenError(f"{word} is not a number: write it without letters and _.")
            return tokens

    class Parser(SpanningParser, SQLiteParser):
        """Functions stay names."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {"REPLACE": exp.Replace.from_arg_list}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {"CAST": lambda self: self.parse_cast()}
        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            "CASE": SQLiteParser.NO_PAREN_FUNCTION_PARSERS["CASE"]
        }
        PRIMARY_PARSERS: ClassVar[dict[TokenType, Any]] = {
            **SQLiteParser.PRIMARY_PARSERS,
            TokenType.HEX_STRING: lambda self, token: self.parse_hexadecimal(token),
        }
        UNARY_PARSERS: ClassVar[dict[TokenType, Any]] = {
            **SQLiteParser.UNARY_PARSERS,
            TokenType.PLUS: read_plus,
        }
        # A comma stays a comma: CROSS JOIN would make SQLite's planner keep the order.
        JOINS_HAVE_EQUAL_PRECEDENCE = False

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
            if self._curr.token_type != TokenType.R_PAREN:
                # sqlglot would do without it.
                self.raise_error("Expected ) after CAST(x AS type")
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

        def parse_hexadecimal(self, token: Token) -> exp.Expr:
            """Parses ``x'00'``, a blob, or ``0x1F``, a signed number of 64 bits."""
            written = self.sql[token.start : token.end + 1]
            if written.endswith("'"):
                return exp.HexString(this=token.text)
            if int(written, 16) > _GREATEST:
                self.raise_error("A number of more than 63 bits: write it in decimal", token)
            return exp.Literal.number(int(written, 16))

    class Generator(PlainGenerator, SQLiteGenerator):
        """Casts are written as they were read."""

        TRANSFORMS: ClassVar[dict[type[exp.Expr], Any]] = {
            **SQLiteGenerator.TRANSFORMS,
            **PLAIN_TRANSFORMS,
            exp.Div: write_infix("/"),
            exp.HexString: lambda self, node: f"x'{node.name}'",
        }

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            """``CAST(x AS affinity)``, never a function."""
            return f"CAST({self.sql(expression, 'this')} AS {self.sql(expression, 'to')})"
