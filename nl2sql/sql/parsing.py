"""Parses SQL within bounds: no text keeps a core busy for longer than its length explains.

sqlglot's parser tries, goes back and tries again, and some texts make it do so at each level: time
doubles with each level of ``DATE(DATE(…`` or ``ARRAY[ARRAY[…``. Each of its ways begins with a move
over the tokens, so the moves are counted: ordinary queries take 1.1 of them a token and at most 2.9
(8,430 gold queries of Spider and of four schemas on PostgreSQL, read in three dialects).
What takes more than ``_STEPS_PER_TOKEN`` is given up, and so is what is too long or nested too
deeply for any query that people or models write, before any parser sees it. Moves do not tell what
a dot costs: before ``.f()`` the parser copies all that the dot stands behind. That is counted too.

Every parse of a text that a user or a model can shape goes through here; a test says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

Reader: TypeAlias = str | type[Dialect]
"""A dialect by its name in sqlglot, or a class of our own."""

MOST_CHARS = 20_000
MOST_TOKENS = 4_000
MOST_DEPTH = 40
MOST_SOURCES = 150
"""Tables and SELECTs of a query: what resolves names looks at each from each other."""

MOST_BEFORE_DOTS = 40_000
"""Words and signs that dots stand behind, summed up: 140 calls in one chain, a fifth of a second.

Ordinary queries come to some hundreds."""

_STEPS_PER_TOKEN = 4
_SPARE_STEPS = 1_000
# Some texts in quotes are read as a language of their own: a type's name, the path of ``->``.
_CHARS_PER_STEP = 4

# The candidates and repairs of a few questions at once.
_REMEMBERED = 64

# What sqlglot raises of itself over texts that nobody had in mind, such as ``SELECT {:1}``.
_DEFECTS = (AssertionError, AttributeError, LookupError, TypeError, ValueError)

_OPENING = frozenset((TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE))
_CLOSING = frozenset((TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END))
_BRACKETS = (_OPENING | _CLOSING) - {TokenType.CASE, TokenType.END}


# What ends the text that a dot may stand behind; a sign that is missing here is only counted along.
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

    No ParseError: the parser catches those, and tries the next way.
    """


def parse_statements(sql: str, dialect: Reader, *, times: int = 1) -> list[exp.Expr | None]:
    """One tree for each statement. Raises SqlglotError, of it TooComplex, and RecursionError.

    ``times`` as long a text is read: one that we made of a shorter one.
    """
    return _parse(sql, dialect, times, lambda parser, tokens: parser.parse(tokens, sql))


def parse_type(name: str, dialect: Reader) -> exp.Expr | None:
    """The tree of a type as a database spells it; what it cost is in proportion to its length.

    Raises as ``parse_statements`` does, but for no length: an enumeration has as many values as
    it has.

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
    budget = _Budget(reader, _SPARE_STEPS + _STEPS_PER_TOKEN * len(tokens))
    try:
        trees = read(budget.reader.parser(), tokens)
    except _DEFECTS as error:
        raise ParseError("It cannot be read.") from error
    if len(tokens) > MOST_SOURCES * times:
        _check_sources(trees, MOST_SOURCES * times)
    return trees


def parse_one(sql: str, dialect: Reader) -> exp.Expr:
    """The tree of the only statement, or of all in one Block. Raises as ``parse_statements`` does.

    >>> parse_one("SELECT a FROM t", "postgres").sql()
    'SELECT a FROM t'
    """
    trees = [tree for tree in parse_statements(sql, dialect) if tree is not None]
    if not trees:
        raise ParseError(f"No expression was parsed from {sql[:100]!r}")
    return trees[0] if len(trees) == 1 else exp.Block(expressions=trees)


@lru_cache(_REMEMBERED)
def read_tree(sql: str, dialect: str) -> exp.Expr:
    """As ``parse_one``, the same tree for each reader of a text: who would change it copies it.

    One text is read for its normal form, by lint and score, by autocorrect and for its words.
    """
    return parse_one(sql, dialect)


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
    """Raises TooComplex for long chains of ``.f()``, in brackets or not."""
    before = 0
    # Where the text before a dot begins, by level of brackets.
    starts = [0]
    previous = None
    for position, token in enumerate(tokens):
        is_behind = previous == TokenType.DOT
        kind = previous = token.token_type
        if is_behind and kind not in _BRACKETS:
            # A name, whatever word it is, or a star.
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
    """The steps that one text has left, in all parsers that read parts of it.

    ``reader`` is the dialect in which they are counted.
    """

    def __init__(self, reader: Dialect, steps: int) -> None:
        self.steps = steps
        self.reader = reader
        self._tokenize = reader.tokenize
        self._to_json_path = reader.to_json_path
        # An instance of its own: get_or_raise makes one for each text.
        vars(reader).update(
            parser_class=_bound(type(reader).parser_class),
            budget=self,
            tokenize=self.tokenize,
            to_json_path=self.to_json_path,
        )

    def charge(self, steps: int) -> None:
        """Takes steps away. Raises TooComplex when they are used up."""
        self.steps -= steps
        if self.steps < 0:
            raise TooComplex("It can be read in too many ways.")

    def tokenize(self, sql: str) -> list[Token]:
        """The tokens of a part in quotes."""
        self.charge(len(sql) // _CHARS_PER_STEP)
        return self._tokenize(sql)

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        """The path of ``->``, parsed where it is a text."""
        if isinstance(path, exp.Literal):
            self.charge(len(path.name) // _CHARS_PER_STEP)
        return self._to_json_path(path)


class _BoundedParser(Parser):
    """Counts its moves."""

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
