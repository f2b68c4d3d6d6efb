"""Semicolons inside a statement."""

from __future__ import annotations

from itertools import zip_longest

from repair.normalize.facts import Facts
from repair.normalize.tokens import SET_WORDS, join_tokens, split_tokens

_CONTINUATIONS = SET_WORDS | {
    "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "JOIN", "AND", "OR", ")",
}  # fmt: skip


def semicolons(sql: str, facts: Facts) -> str:
    """Removes a semicolon before the next clause or a closing parenthesis.

    Two statements stay two, which the guard refuses.

    >>> semicolons("SELECT a FROM t; ORDER BY a;", Facts("postgres"))
    'SELECT a FROM t ORDER BY a;'
    >>> semicolons("SELECT 1; SELECT 2", Facts("postgres"))
    'SELECT 1; SELECT 2'
    """
    tokens = split_tokens(sql)
    kept = [
        token
        for token, following in zip_longest(tokens, tokens[1:])
        if token.text != ";" or (following is None or following.upper not in _CONTINUATIONS)
    ]
    return join_tokens(kept)
