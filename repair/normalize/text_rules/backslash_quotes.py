"""MySQL's escaped quotes."""

from __future__ import annotations

from itertools import pairwise

from repair.normalize.facts import Facts
from repair.normalize.tokens import split_tokens


def backslash_quotes(sql: str, facts: Facts) -> str:
    r"""Doubles a quote after a backslash instead, if the text would not end otherwise.

    >>> print(backslash_quotes("SELECT 'O\\'Brien'", Facts("postgres")))
    SELECT 'O''Brien'
    """
    if "\\'" not in sql:
        return sql
    tokens = split_tokens(sql)
    is_broken = any(
        token.text == "'" or (before.text[-2:] == "\\'" and token.is_word and not token.space)
        for before, token in pairwise(tokens)
    )
    return sql.replace("\\'", "''") if is_broken else sql
