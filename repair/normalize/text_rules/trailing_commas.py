"""Commas after the last item of a list."""

from __future__ import annotations

from itertools import zip_longest

from repair.normalize.facts import Facts
from repair.normalize.tokens import SET_WORDS, join_tokens, split_tokens

_AFTER_LIST = SET_WORDS | {"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", ")", ";"}


def trailing_commas(sql: str, facts: Facts) -> str:
    """Removes a comma before the next clause, a closing parenthesis or the end.

    >>> trailing_commas("SELECT a, b, FROM t WHERE c IN (1, 2,)", Facts("postgres"))
    'SELECT a, b FROM t WHERE c IN (1, 2)'
    """
    tokens = split_tokens(sql)
    kept = [
        token
        for token, following in zip_longest(tokens, tokens[1:])
        if token.text != "," or (following is not None and following.upper not in _AFTER_LIST)
    ]
    return join_tokens(kept)
