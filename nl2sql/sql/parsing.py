"""Parses SQL with bounded time: the time is proportional to the length of the text.

sqlglot's parser backtracks, and some texts make it do so at each level: time doubles with each
level of ``DATE(DATE(…`` or ``ARRAY[ARRAY[…``. Each attempt begins with a step over the tokens, so
steps are counted: ordinary queries take 1.1 a token and at most 2.9 (8,430 gold queries of Spider
and of four schemas on PostgreSQL, read in three dialects). Parsing stops above
``_STEPS_PER_TOKEN``. Texts that are longer or nested more deeply than any query of people or models
are refused before they are parsed. Steps do not reflect the cost of dots: before ``.f()`` the
parser copies everything to the left of the dot. So that is limited separately.

Every text that a user or a model can influence is parsed here; a test checks that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

Reader: TypeAlias = str | type[Dialect]
"""A dialect by its name in sqlglot, or a class of our own."""

MOST_CHARS = 20_000
MOST_TOKENS = 4_000
MOST_DEPTH = 40
MOST_SOURCES = 150
"""Tables and SELECTs of a query: the time of resolving names grows with the square."""

MOST_BEFORE_DOTS = 40_000
"""Tokens to the left of dots, summed up: 140 calls in one chain, a fifth of a second.

Ordinary queries have some hundreds."""

_STEPS_PER_TOKEN = 4
_SPARE_STEPS = 1_000
# Some quoted texts are parsed as another language: a type's name, the path of ``->``.
_CHARS_PER_STEP = 4

# The candidates and repairs of a few questions at once.
_REMEMBERED = 64

# The errors that defects of sqlglot raise for unusual texts such as ``SELECT {:1}``.
_DEFECTS = (AssertionError, AttributeError, LookupError, TypeError, ValueError)

# How sqlglot names the kind of an incomplete node.
_CLASS = re.compile(r"<class '(?:\w+\.)*(\w+)'>")
_LONGEST_MESSAGE = 300

_OPENING = frozenset((TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE))
_CLOSING = frozenset((TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END))
_BASED = frozenset((TokenType.BIT_STRING, TokenType.HEX_STRING))
_BRACKETS = (_OPENING | _CLOSING) - {TokenType.CASE, TokenType.END}


# Tokens that end the text to the left of a dot; for others, more tokens than necessary are counted.
_SEPARATING = frozenset(
    (
        *(TokenType.COMMA, TokenType.SEMICOLON, TokenType.PLUS, TokenType.DASH, TokenType.STAR),
        *(TokenType.SLASH, TokenType.MOD, TokenType.DPIPE, TokenType.EQ, TokenType.NEQ),
        *(TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE, TokenType.AND, TokenType.OR),
        *(TokenType.NOT, TokenType.SELECT, TokenType.FROM, TokenType.JOIN, TokenType.ON),
        *(TokenType.WHERE, TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.HAVING),
        *(TokenType.WHEN, TokenType.THEN, TokenType.ELSE),
    )
)


class TooComplex(SqlglotError):
    """The text is longer, nested more deeply or more ambiguous than any query needs to be.

    It is not a ParseError, because the parser catches those and continues.
    """


def parse_statements(sql: str, dialect: Reader, *, times: int = 1) -> list[exp.Expr | None]:
    """One tree for each statement. Raises SqlglotError, including TooComplex, and RecursionError.

    ``times`` multiplies the limits, for texts that were generated from shorter ones.
    """
    return _parse(sql, dialect, times, lambda parser, tokens: parser.parse(tokens, sql))


def parse_type(name: str, dialect: Reader) -> exp.Expr | None:
    """The tree of a type as a database spells it; the time is proportional to its length.

    Raises as ``parse_statements`` does, but the length is not limited: enumerations can be long.

    >>> parse_type("numeric(10,2)", "postgres").sql("duckdb")
    'DECIMAL(10, 2)'
    """
    times = 1 + len(name) // MOST_TOKENS
    return _parse(
        name, dialect, times, lambda parser, tokens: parser.parse_into(exp.DataType, tokens, name)
    )[0]


def _parse(
    sql: str,
    dialect: Reader,
    times: int,
    read: Callable[[Parser, list[Token]], list[exp.Expr | None]],
) -> list[exp.Expr | None]:
    if len(sql) > MOST_CHARS * times:
        raise TooComplex(f"It is longer than {MOST_CHARS * times} characters.")
    reader = Dialect.get_or_raise(dialect)
    tokens = reader.tokenize(sql)
    if len(tokens) > MOST_TOKENS * times:
        raise TooComplex(f"It has more than {MOST_TOKENS * times} words and signs.")
    check_depth(tokens)
    _check_dots(tokens, MOST_BEFORE_DOTS * times)
    if type(reader) is Postgres:
        _check_reading(tokens, sql)
    budget = _Budget(reader, _SPARE_STEPS + _STEPS_PER_TOKEN * len(tokens))
    try:
        trees = read(budget.reader.parser(), tokens)
    except _DEFECTS as error:
        raise ParseError("It cannot be read.") from error
    if len(tokens) > MOST_SOURCES * times:
        _check_sources(trees, MOST_SOURCES * times)
    return trees


def read_tokens(sql: str, dialect: Reader) -> list[Token]:
    """The words and signs of a text, parsed or not. Raises SqlglotError."""
    if len(sql) > MOST_CHARS:
        raise TooComplex(f"It is longer than {MOST_CHARS} characters.")
    return Dialect.get_or_raise(dialect).tokenize(sql)


def parse_one(sql: str, dialect: Reader) -> exp.Expr:
    """The tree of the only statement, or of all in one Block. Raises as ``parse_statements`` does.

    >>> parse_one("SELECT a FROM t", "postgres").sql()
    'SELECT a FROM t'
    """
    trees = [tree for tree in parse_statements(sql, dialect) if tree is not None]
    if not trees:
        raise ParseError(f"No expression was parsed from {sql[:100]!r}")
    return trees[0] if len(trees) == 1 else exp.Block(expressions=trees)


def find_tree(sql: str, dialect: Reader) -> exp.Expr | None:
    """As ``parse_one``; None for a text that cannot be parsed."""
    try:
        return parse_one(sql, dialect)
    except (SqlglotError, RecursionError):
        return None


@lru_cache(_REMEMBERED)
def read_tree(sql: str, dialect: str) -> exp.Expr:
    """As ``parse_one``, but cached: callers share the tree and must copy it before changing it.

    The normal form, lint, score, autocorrect and the wording all read the same texts.
    """
    return parse_one(sql, dialect)


def write_tree(tree: exp.Expr, dialect: Reader) -> str:
    """The tree as SQL without comments. It may be changed: give a copy of a shared one.

    Raises SqlglotError, also for what sqlglot reads but cannot write, as DuckDB's DATETIME(day).
    """
    try:
        return tree.sql(dialect, comments=False, unsupported_level=ErrorLevel.IGNORE, copy=False)
    except _DEFECTS as error:
        raise ParseError("It cannot be written.") from error


def describe_parse_error(error: SqlglotError | RecursionError) -> str:
    """The error in one line, without names of Python's modules.

    >>> describe_parse_error(ParseError("'expression' missing for <class 'sqlglot.core.Div'>."))
    "'expression' missing for Div."
    """
    if isinstance(error, RecursionError):
        return "It is nested too deeply."
    return _CLASS.sub(r"\1", str(error).partition("\n")[0])[:_LONGEST_MESSAGE]


def check_depth(tokens: Sequence[Token]) -> None:
    """Raises TooComplex for too many levels of brackets and CASE."""
    depth = 0
    for token in tokens:
        kind = token.token_type
        if kind in _OPENING:
            depth += 1
            if depth > MOST_DEPTH:
                raise TooComplex(f"It is nested more than {MOST_DEPTH} levels deep.")
        elif kind in _CLOSING and depth:
            depth -= 1


def _check_dots(tokens: Sequence[Token], most: int) -> None:
    """Raises TooComplex for long chains of ``.f()``, within brackets too."""
    before = 0
    # Where the text before a dot begins, by level of brackets.
    starts = [0]
    previous = None
    for position, token in enumerate(tokens):
        is_behind = previous == TokenType.DOT
        kind = previous = token.token_type
        if is_behind and kind not in _BRACKETS:
            # After a dot, any word is a name.
            continue
        if kind in _OPENING:
            starts.append(position)
        elif kind in _CLOSING and len(starts) > 1:
            starts.pop()
        elif kind in _SEPARATING:
            starts[-1] = position
        elif kind == TokenType.DOT:
            before += position - starts[-1]
    if before > most:
        raise TooComplex("It has too many calls behind dots: write f(g(x)) for x.g().f().")


def _check_reading(tokens: Sequence[Token], sql: str) -> None:
    """Raises ParseError for what sqlglot reads otherwise than PostgreSQL, and would write so.

    These are ``<=>`` (pgvector's distance), ``1_000`` and ``0xFF``. The guard's own dialect reads
    them; a candidate that is derived from such a text would have another meaning.
    """
    for token, behind in zip(tokens, (*tokens[1:], None), strict=False):
        kind = token.token_type
        is_based = kind in _BASED and sql[token.start] == "0"
        is_cut = (
            kind == TokenType.NUMBER
            and behind is not None
            and (behind.token_type, behind.start) == (TokenType.VAR, token.end + 1)
        )
        if kind == TokenType.NULLSAFE_EQ or is_based or is_cut:
            raise ParseError(f"PostgreSQL reads {sql[token.start : token.end + 2]} otherwise.")


def _check_sources(trees: Sequence[exp.Expr | None], most: int) -> None:
    sources = sum(
        isinstance(node, exp.Table | exp.Select)
        for tree in trees
        if tree is not None
        for node in tree.walk()
    )
    if sources > most:
        raise TooComplex(f"It has more than {most} tables and subqueries.")


class _Budget:
    """The remaining steps for one text, shared by all parsers that read parts of it.

    ``reader`` is the dialect instance that counts them.
    """

    def __init__(self, reader: Dialect, steps: int) -> None:
        self.steps = steps
        self.reader = reader
        self._tokenize = reader.tokenize
        self._to_json_path = reader.to_json_path
        # The instance is not shared: get_or_raise makes one for each text.
        vars(reader).update(
            parser_class=_bound(type(reader).parser_class),
            budget=self,
            tokenize=self.tokenize,
            to_json_path=self.to_json_path,
        )

    def charge(self, steps: int) -> None:
        """Subtracts steps. Raises TooComplex when none are left."""
        self.steps -= steps
        if self.steps < 0:
            raise TooComplex("It can be read in too many ways.")

    def tokenize(self, sql: str) -> list[Token]:
        """Tokenizes a quoted part."""
        self.charge(len(sql) // _CHARS_PER_STEP)
        return self._tokenize(sql)

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        """Parses the path of ``->`` if it is a text."""
        if isinstance(path, exp.Literal):
            self.charge(len(path.name) // _CHARS_PER_STEP)
        return self._to_json_path(path)


class _BoundedParser(Parser):
    """Counts its steps."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._budget: _Budget = self.dialect.budget

    def _advance(self, times: int = 1) -> None:
        budget = self._budget
        budget.steps -= 1
        if budget.steps < 0:
            raise TooComplex("It can be read in too many ways.")
        super()._advance(times)


@lru_cache
def _bound(parser: type[Parser]) -> type[Parser]:
    return type(f"Bounded{parser.__name__}", (_BoundedParser, parser), {})
