"""Operators, numbers and strings as PostgreSQL's own lexer delimits them.

sqlglot knows a list of operators: it reads ``<=>`` as MySQL's comparison and ``<#>`` as three
signs. PostgreSQL reads any sequence of operator signs as one operator, whether it exists or not
(https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-OPERATORS). So sqlglot's
tokens are regrouped before they are parsed: signs become operators, digits and what touches them
one number, ``E'…'``, ``U&'…'``, ``U&"…"``, ``$$…$$`` and strings in parts on several lines plain
strings or names with the value that PostgreSQL reads.

Knows nothing of grammar. Expects a text without comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import postgast
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

OPERATOR = TokenType.TILDE
"""The token type of every operator without a rule of its own in the grammar."""

_SIGNS = frozenset("+-*/<>=~!@#%^&|`?")
# Only an operator with one of these may end in + or -.
_FREE_SIGNS = frozenset("~!@#%^&|`?")
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
_ENCODED = frozenset((TokenType.BYTE_STRING, TokenType.UNICODE_STRING))
_NUMBERS = frozenset((TokenType.NUMBER, TokenType.HEX_STRING, TokenType.BIT_STRING))


def split_operators(signs: str) -> list[str]:
    """The operators that PostgreSQL reads in a sequence of operator signs.

    >>> split_operators("<=>-"), split_operators("*-"), split_operators("@-")
    (['<=>', '-'], ['*', '-'], ['@-'])
    """
    if not _FREE_SIGNS.isdisjoint(signs):
        return [signs]
    first = signs.rstrip("+-") or signs[:1]
    return [first, *signs[len(first) :]]


def regroup_tokens(tokens: Sequence[Token], sql: str) -> list[Token]:
    """sqlglot's tokens of ``sql`` as PostgreSQL groups them. Raises TokenError."""
    return list(_regroup(tokens, sql))


def _regroup(tokens: Sequence[Token], sql: str) -> Iterator[Token]:
    at = 0
    while at < len(tokens):
        token = tokens[at]
        first = sql[token.start]
        kind = token.token_type
        until = token.end + 1
        if first in _SIGNS:
            while until < len(sql) and sql[until] in _SIGNS:
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
        elif kind in _ENCODED or _is_encoded_name(tokens, at, sql):
            if kind not in _ENCODED:
                until = tokens[at + 2].end + 1
            until = _find_escape(tokens, at, _find_last_part(tokens, at, until, sql), sql)
            yield _decode(token, sql[token.start : until])
        elif kind == TokenType.STRING:
            last = _find_last_part(tokens, at, until, sql)
            yield token if last == until else _decode(token, sql[token.start : last])
            until = last
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


def _is_encoded_name(tokens: Sequence[Token], at: int, sql: str) -> bool:
    """Whether a name ``U&"…"`` begins with the token."""
    token = tokens[at]
    return at + 2 < len(tokens) and sql[token.start : token.end + 3].upper() == 'U&"'


def _find_last_part(tokens: Sequence[Token], at: int, until: int, sql: str) -> int:
    """The end of the string with its parts on the following lines."""
    for behind in range(at + 1, len(tokens)):
        token = tokens[behind]
        if token.start < until:
            continue
        between = sql[until : token.start]
        if token.token_type != TokenType.STRING or "\n" not in between or not between.isspace():
            break
        until = token.end + 1
    return until


def _find_escape(tokens: Sequence[Token], at: int, until: int, sql: str) -> int:
    """The end of the string or name with its ``UESCAPE '…'``, if there is one."""
    behind = next((at for at in range(at, len(tokens)) if tokens[at].start >= until), len(tokens))
    if behind + 1 < len(tokens) and tokens[behind].text.upper() == "UESCAPE":
        return int(tokens[behind + 1].end) + 1
    return until


def _decode(token: Token, written: str) -> Token:
    """The string or name with the value that PostgreSQL's grammar reads."""
    try:
        (target,) = postgast.parse(f"SELECT {written}").stmts[0].stmt.select_stmt.target_list
    except (postgast.PgQueryError, ValueError) as error:
        raise TokenError("PostgreSQL's grammar does not accept a string or name in it.") from error
    value = target.res_target.val
    parts = [field.string.sval for field in value.column_ref.fields]
    if value.a_const.HasField("sval"):
        kind, text = TokenType.STRING, value.a_const.sval.sval
    elif len(parts) == 1:
        kind, text = TokenType.IDENTIFIER, parts[0]
    else:
        raise TokenError("PostgreSQL's grammar reads more than one string or name in it.")
    return _replace(token, kind, text, token.start, token.start + len(written))
