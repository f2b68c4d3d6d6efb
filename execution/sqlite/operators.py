"""Parses SQLite's operators with SQLite's own precedence (the table in its parse.y).

sqlglot's precedence differs: LIKE, IN and BETWEEN bind like ``=`` and from the left in SQLite, and
an operator that follows ``x ISNULL`` applies to all of it. Operands that are comparisons get
parentheses, so that the rendered text has one reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from sqlglot import exp
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import TokenType

from execution.parsing.plain_dialect import PrefixOperator


class _Level(IntEnum):
    """How tightly an operator binds."""

    OR = 1
    AND = 2
    EQUALITY = 4
    COMPARISON = 5
    BITWISE = 6
    SUM = 7
    PRODUCT = 8
    CONCATENATION = 9
    COLLATION = 10


_Operators = Mapping[TokenType, tuple[_Level, type[exp.Expr]]]

_OPERATORS: _Operators = {
    TokenType.OR: (_Level.OR, exp.Or),
    TokenType.AND: (_Level.AND, exp.And),
    TokenType.EQ: (_Level.EQUALITY, exp.EQ),
    TokenType.NEQ: (_Level.EQUALITY, exp.NEQ),
    TokenType.GT: (_Level.COMPARISON, exp.GT),
    TokenType.GTE: (_Level.COMPARISON, exp.GTE),
    TokenType.LT: (_Level.COMPARISON, exp.LT),
    TokenType.LTE: (_Level.COMPARISON, exp.LTE),
    TokenType.AMP: (_Level.BITWISE, exp.BitwiseAnd),
    TokenType.PIPE: (_Level.BITWISE, exp.BitwiseOr),
    TokenType.PLUS: (_Level.SUM, exp.Add),
    TokenType.DASH: (_Level.SUM, exp.Sub),
    TokenType.STAR: (_Level.PRODUCT, exp.Mul),
    TokenType.SLASH: (_Level.PRODUCT, exp.Div),
    TokenType.MOD: (_Level.PRODUCT, exp.Mod),
    TokenType.DPIPE: (_Level.CONCATENATION, exp.DPipe),
    TokenType.ARROW: (_Level.CONCATENATION, exp.JSONExtract),
    TokenType.DARROW: (_Level.CONCATENATION, exp.JSONExtractScalar),
}
# sqlglot has two tokens for these.
_SHIFTS = {TokenType.LT: exp.BitwiseLeftShift, TokenType.GT: exp.BitwiseRightShift}
_PATTERNS = {TokenType.LIKE: exp.Like, TokenType.GLOB: exp.Glob}
_PREFIXES = (TokenType.DASH, TokenType.PLUS, TokenType.TILDE)
# The first words of operators at the level of ``=``, besides its own.
_WORDS = frozenset(
    (
        *(TokenType.BETWEEN, TokenType.GLOB, TokenType.IN, TokenType.IS, TokenType.ISNULL),
        *(TokenType.LIKE, TokenType.NOTNULL, TokenType.RLIKE),
    )
)
_COMPARED = (
    *(exp.Between, exp.Connector, exp.Escape, exp.In, exp.Is, exp.Not, exp.Predicate),
    *(exp.NullSafeEQ, exp.NullSafeNEQ),
)


class OperatorParser(Parser):
    """Parses expressions of operators."""

    def _parse_disjunction(self) -> exp.Expr | None:
        return self._parse_operators(_Level.OR)

    def _parse_conjunction(self) -> exp.Expr | None:
        return self._parse_operators(_Level.AND)

    def _parse_equality(self, parse_is: bool = True) -> exp.Expr | None:
        return self._parse_operators(_Level.EQUALITY)

    def _parse_bitwise(self) -> exp.Expr | None:
        return self._parse_operators(_Level.BITWISE)

    def _parse_term(self, parse_mod: bool = True) -> exp.Expr | None:
        return self._parse_operators(_Level.SUM)

    def _parse_unary(self) -> exp.Expr | None:
        kind = self._curr.token_type
        if kind == TokenType.NOT:
            self._advance()
            # It ends at AND and OR only, wherever it stands.
            return exp.Not(this=self._parse_right(_Level.EQUALITY))
        if kind not in _PREFIXES:
            return self._parse_type()
        self._advance()
        operand = _enclose(self._require(self._parse_unary()))
        if kind == TokenType.PLUS:
            # It removes the affinity and the collation of a column.
            return PrefixOperator(this=operand, operator="+")
        return (exp.Neg if kind == TokenType.DASH else exp.BitwiseNot)(this=operand)

    def _parse_operators(self, lowest: _Level) -> exp.Expr | None:
        """Parses operators that bind as tightly as ``lowest`` or more."""
        left = self._parse_unary()
        while left is not None and (following := self._parse_infix(left, lowest)) is not None:
            left = following
        return left

    def _parse_infix(self, left: exp.Expr, lowest: _Level) -> exp.Expr | None:
        """Parses one operator after ``left``, with its right side; None if there is none."""
        kind = self._curr.token_type
        if kind in _SHIFTS and self._next.token_type == kind and self._is_doubled():
            if lowest > _Level.BITWISE:
                return None
            self._advance(2)
            return self._build(_SHIFTS[kind], left, _Level.BITWISE)
        if kind in _OPERATORS:
            level, node = _OPERATORS[kind]
            if lowest > level:
                return None
            self._advance()
            if level > _Level.AND:
                return self._build(node, left, level)
            right = _Level.AND if level == _Level.OR else _Level.EQUALITY
            return node(this=left, expression=self._parse_right(right))
        if kind == TokenType.COLLATE and lowest <= _Level.COLLATION:
            self._advance()
            name = self._parse_id_var(any_token=True)
            return exp.Collate(this=_enclose(left), expression=self._require(name))
        return None if lowest > _Level.EQUALITY else self._parse_word(left)

    def _parse_word(self, left: exp.Expr) -> exp.Expr | None:
        """Parses an operator of words, which binds like ``=``."""
        kind = self._curr.token_type
        is_negated = kind == TokenType.NOT
        if is_negated:
            kind = self._next.token_type
        is_match = (self._next if is_negated else self._curr).text.upper() == "MATCH"
        if not (kind in _WORDS or is_match or (is_negated and kind == TokenType.NULL)):
            return None
        self._advance(2 if is_negated else 1)
        left = _enclose(left)
        if is_match or kind == TokenType.RLIKE:
            self.raise_error("SQLite has no REGEXP and no MATCH of its own: write LIKE or GLOB")
        if kind == TokenType.IS:
            return self._parse_is(left)
        if kind in (TokenType.ISNULL, TokenType.NOTNULL, TokenType.NULL):
            found: exp.Expr = exp.Is(this=left, expression=exp.Null())
            return found if kind == TokenType.ISNULL else exp.Not(this=found)
        if kind == TokenType.IN:
            found = self._parse_in(left)
        elif kind == TokenType.BETWEEN:
            found = self._parse_between(left)
        else:
            found = self._build(_PATTERNS[kind], left, _Level.EQUALITY)
            if self._match(TokenType.ESCAPE):
                found = exp.Escape(
                    this=found, expression=_enclose(self._parse_right(_Level.COMPARISON))
                )
        return exp.Not(this=found) if is_negated else found

    def _parse_is(self, this: exp.Expr | None) -> exp.Expr:
        is_negated = self._match(TokenType.NOT)
        is_distinct = self._match_text_seq("DISTINCT", "FROM")
        node: type[exp.Expr] = exp.Is
        if is_distinct:
            node = exp.NullSafeEQ if is_negated else exp.NullSafeNEQ
        found = self._build(node, self._require(this), _Level.EQUALITY)
        return exp.Not(this=found) if is_negated and not is_distinct else found

    def _parse_between(self, this: exp.Expr | None) -> exp.Between:
        low = _enclose(self._parse_right(_Level.EQUALITY))
        if not self._match(TokenType.AND):
            self.raise_error("Expected AND after BETWEEN")
        return exp.Between(this=this, low=low, high=_enclose(self._parse_right(_Level.COMPARISON)))

    def _build(self, node: type[exp.Expr], left: exp.Expr, level: _Level) -> exp.Expr:
        right = self._parse_right(_Level(level + 1))
        return node(this=_enclose(left), expression=_enclose(right))

    def _parse_right(self, lowest: _Level) -> exp.Expr:
        return self._require(self._parse_operators(lowest))

    def _require(self, operand: exp.Expr | None) -> exp.Expr:
        if operand is None:
            self.raise_error("An operand is missing")
        assert operand is not None
        return operand

    def _is_doubled(self) -> bool:
        return self._next.start == self._curr.end + 1


def _enclose(operand: exp.Expr) -> exp.Expr:
    """The operand, in parentheses if it is a comparison."""
    return exp.Paren(this=operand) if isinstance(operand, _COMPARED) else operand
