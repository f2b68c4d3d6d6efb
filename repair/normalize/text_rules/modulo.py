"""MOD between two values."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import Token, join_tokens, split_tokens


def modulo(sql: str, facts: Facts) -> str:
    """MySQL's ``a MOD b`` becomes ``a % b``.

    >>> modulo("SELECT a MOD 2, mod(a, 2) FROM t", Facts("postgres"))
    'SELECT a % 2, mod(a, 2) FROM t'
    """
    tokens = split_tokens(sql)
    for index in range(1, len(tokens) - 1):
        if tokens[index].upper == "MOD" and _is_value(tokens[index - 1]):
            following = tokens[index + 1]
            if following.text[0].isdigit() or following.is_name:
                tokens[index] = tokens[index].spell("%")
    return join_tokens(tokens)


def _is_value(token: Token) -> bool:
    return token.is_name or token.text == ")" or token.text[0].isdigit()
