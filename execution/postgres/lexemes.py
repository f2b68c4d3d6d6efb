"""Operators, numbers and strings as PostgreSQL's own lexer delimits them.

sqlglot knows a list of operators: it reads ``<=>`` as MySQL's comparison and ``<#>`` as three
signs. PostgreSQL reads any sequence of operator signs as one operator, whether it exists or not
(https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-OPERATORS). So sqlglot's
tokens are regrouped before they are parsed: signs become operators, digits and what touches them
one number, ``E'…'`` and ``$$…$$`` plain strings with the value that PostgreSQL reads. ``U&'…'`` and
strings in parts on several lines stay what sqlglot makes of them, which ``meaning.py`` refuses.

Knows nothing of grammar. Expects a text without comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import postgast
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from execution.parsing.plain_dialect import OPERATOR_SIGNS, split_operators

OPERATOR = TokenType.TILDE
"""The token type of every operator without a rule of its own in the grammar."""

# The operators with grammar rules, and thus precedences, of their own.
_RULED = {
    "+": TokenType.PLUS,
    "-": TokenType.DASH,
    "*": TokenType.STAR,
    "/": TokenType.SLASH,
    "%": TokenType.MOD,
    "^": TokenType.CARET,
    "<": TokenType.LT,
    ">": TokenType.GT,
    "=": TokenType.EQ,
    "<=": TokenType.LTE,
    ">=": TokenType.GTE,
    "<>": TokenType.NEQ,
    "!=": TokenType.NEQ,
    "=>": TokenType.FARROW,
}
# A hexadecimal, octal or binary integer; or a decimal number.
_NUMBER = re.compile(
    r"(?P<based>0[xX](?:_?[0-9A-Fa-f])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+)"
    r"|(?:[0-9](?:_?[0-9])*)?\.?(?:[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9](?:_?[0-9])*)?"
)
_WORD = re.compile(r"[\w$\x80-\U0010ffff]")
_NUMBERS = frozenset((TokenType.NUMBER, TokenType.HEX_STRING, TokenType.BIT_STRING))


def regroup_tokens(tokens: Sequence[Token], sql: str) -> Iterator[Token]:
    """sqlglot's tokens of ``sql`` as PostgreSQL groups them. Raises TokenError."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        # What follows a command is one token, which may begin behind a text that ends in spaces.
        first = sql[token.start : token.start + 1]
        kind = token.token_type
        until = token.end + 1
        if first in OPERATOR_SIGNS:
            while until < len(sql) and sql[until] in OPERATOR_SIGNS:
                until += 1
            start = token.start
            for operator in split_operators(sql[start:until]):
                end = start + len(operator)
                yield _replace(token, _RULED.get(operator, OPERATOR), operator, start, end)
                start = end
        elif kind in _NUMBERS and first.isdigit():
            number = _NUMBER.match(sql, token.start)
            assert number is not None
            until = number.end()
            text = _read_number(number, sql)
            yield _replace(token, TokenType.NUMBER, text, token.start, until)
        elif kind == TokenType.HEREDOC_STRING:
            yield _replace(token, TokenType.STRING, token.text, token.start, until)
        elif kind == TokenType.BYTE_STRING:
            yield _decode(token, sql[token.start : until])
        else:
            yield token
        at += 1
        while at < len(tokens) and tokens[at].start < until:
            at += 1


def _replace(token: Token, kind: TokenType, text: str, start: int, until: int) -> Token:
    return Token(kind, text, token.line, token.col, start, until - 1, token.comments)


def _read_number(number: re.Match[str], sql: str) -> str:
    """The number in decimal digits."""
    if _WORD.match(sql, number.end()):
        raise TokenError(f"{sql[number.start() : number.end() + 1]} is no number.")
    text = number[0].replace("_", "")
    if not number["based"]:
        return text
    try:
        return str(int(text, 0))
    except ValueError as error:
        raise TokenError("A number has too many digits.") from error


def _decode(token: Token, written: str) -> Token:
    """The string ``E'…'`` with the value that PostgreSQL's grammar reads."""
    try:
        (target,) = postgast.parse(f"SELECT {written}").stmts[0].stmt.select_stmt.target_list
    except (postgast.PgQueryError, ValueError) as error:
        raise TokenError("PostgreSQL's grammar does not accept a string in it.") from error
    text = target.res_target.val.a_const.sval.sval
    return _replace(token, TokenType.STRING, text, token.start, token.start + len(written))
