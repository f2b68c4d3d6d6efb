"""Aliases where none are allowed."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import (
    CLAUSES,
    KEYWORDS,
    Token,
    find_opening,
    join_tokens,
    split_tokens,
)

_TAKES_AS = frozenset({"CAST", "TRY_CAST", "SAFE_CAST", "STRUCT", "XMLFOREST", "ROW", "CONVERT"})


def stray_aliases(sql: str, facts: Facts) -> str:
    """Removes an alias inside a call, or after an expression of ORDER BY or GROUP BY.

    >>> stray_aliases("SELECT round(sum(a) AS s, 1) AS s FROM t ORDER BY b AS c", Facts("sqlite"))
    'SELECT round(sum(a), 1) AS s FROM t ORDER BY b'
    """
    tokens = split_tokens(sql)
    for index in range(len(tokens) - 2, 0, -1):
        if tokens[index].upper != "AS" or not tokens[index + 1].is_name:
            continue
        if _is_in_call(tokens, index) or _is_in_order(tokens, index):
            del tokens[index : index + 2]
    return join_tokens(tokens)


def _is_in_call(tokens: list[Token], index: int) -> bool:
    opening = find_opening(tokens, index)
    if opening < 1 or tokens[opening + 1].upper in ("SELECT", "WITH", "VALUES"):
        return False
    name = tokens[opening - 1]
    return name.is_word and name.upper not in KEYWORDS | _TAKES_AS


def _is_in_order(tokens: list[Token], index: int) -> bool:
    """Whether the enclosing clause, at the same depth, is ORDER BY or GROUP BY."""
    depth = 0
    for place in range(index - 1, -1, -1):
        text = tokens[place].text
        depth += {")": 1, "(": -1}.get(text, 0)
        if depth < 0:
            return False
        if depth == 0 and tokens[place].upper in CLAUSES:
            return tokens[place].upper in ("ORDER", "GROUP")
    return False
