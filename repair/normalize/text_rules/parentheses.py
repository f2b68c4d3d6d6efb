"""Unbalanced parentheses."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import Token, join_tokens, split_tokens

# If more are missing, the model failed or its answer was cut.
_MOST_MISSING = 2


def parentheses(sql: str, facts: Facts) -> str:
    """Closes open parentheses at the end, and removes closing ones without a partner.

    >>> parentheses("SELECT a FROM (SELECT max(b FROM t))) x", Facts("postgres"))
    'SELECT a FROM (SELECT max(b FROM t)) x'
    >>> parentheses("SELECT a FROM t WHERE b IN (SELECT c FROM u", Facts("postgres"))
    'SELECT a FROM t WHERE b IN (SELECT c FROM u)'
    """
    kept: list[Token] = []
    depth = 0
    for token in split_tokens(sql):
        if token.text == ")" and not depth:
            continue
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        kept.append(token)
    if depth > _MOST_MISSING:
        return sql
    return join_tokens([*kept, *[Token("", ")")] * depth])
