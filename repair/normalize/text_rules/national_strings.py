"""T-SQL's N before a text."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import join_tokens, split_tokens


def national_strings(sql: str, facts: Facts) -> str:
    """``N'x'`` becomes ``'x'``: all text is Unicode here.

    >>> national_strings("SELECT a FROM t WHERE b = N'x'", Facts("sqlite"))
    "SELECT a FROM t WHERE b = 'x'"
    """
    tokens = split_tokens(sql)
    for index in range(len(tokens) - 1, 0, -1):
        text, before = tokens[index], tokens[index - 1]
        if text.text[0] == "'" and not text.space and before.upper == "N":
            tokens[index - 1 : index + 1] = [before.spell(text.text)]
    return join_tokens(tokens)
