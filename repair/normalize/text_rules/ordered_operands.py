"""ORDER BY and LIMIT before a UNION."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import (
    SET_WORDS,
    Token,
    find_clause,
    find_end,
    join_tokens,
    split_tokens,
)


def ordered_operands(sql: str, facts: Facts) -> str:
    """Puts an operand of UNION with an ORDER BY or LIMIT in parentheses.

    >>> ordered_operands("SELECT a FROM t LIMIT 1 UNION SELECT b FROM u", Facts("postgres"))
    '(SELECT a FROM t LIMIT 1) UNION SELECT b FROM u'
    """
    tokens = split_tokens(sql)
    for start in range(len(tokens) - 1, -1, -1):
        if tokens[start].upper != "SELECT":
            continue
        end = find_end(tokens, start)
        is_joined = end < len(tokens) and tokens[end].upper in SET_WORDS
        if is_joined and find_clause(tokens, start, end, "ORDER", "LIMIT") > 0:
            is_all = any(token.upper == "ALL" for token in tokens[end + 1 : end + 2])
            _wrap_last(tokens, end + 1 + is_all)
            _wrap(tokens, start, end)
    return join_tokens(tokens)


def _wrap_last(tokens: list[Token], start: int) -> None:
    """Puts the last operand in parentheses if it has a LIMIT: it is its own too."""
    if start < len(tokens) and tokens[start].upper == "SELECT":
        end = find_end(tokens, start)
        if find_clause(tokens, start, end, "LIMIT") > 0:
            _wrap(tokens, start, end)


def _wrap(tokens: list[Token], start: int, end: int) -> None:
    tokens[end:end] = [Token("", ")")]
    tokens[start : start + 1] = [Token(tokens[start].space, "("), Token("", tokens[start].text)]
