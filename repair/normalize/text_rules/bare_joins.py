"""Joins that share one condition."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import Token, join_tokens, split_tokens

_ENDS = frozenset(
    "WHERE GROUP HAVING ORDER LIMIT OFFSET FETCH WINDOW QUALIFY UNION EXCEPT INTERSECT ;".split()
)
_CONDITIONS = frozenset({"ON", "USING"})
# Joins that need no condition, or whose meaning would change.
_OTHERS = frozenset({"CROSS", "NATURAL", "LEFT", "RIGHT", "FULL", "OUTER", "LATERAL"})


def bare_joins(sql: str, facts: Facts) -> str:
    """SQLite's ``a JOIN b JOIN c ON …`` becomes ``a CROSS JOIN b JOIN c ON …``.

    The last condition may name all tables before it. Joins that are followed by all their
    conditions stay.

    >>> bare_joins("SELECT 1 FROM a JOIN b JOIN c ON a.x = b.x AND c.y = b.y", Facts("postgres"))
    'SELECT 1 FROM a CROSS JOIN b JOIN c ON a.x = b.x AND c.y = b.y'
    """
    if facts.target == "sqlite":
        return sql  # the target reads them
    tokens = split_tokens(sql)
    for start in range(len(tokens) - 1, -1, -1):
        if tokens[start].upper != "FROM":
            continue
        joins, conditions = _find_joins(tokens, start + 1)
        if len(conditions) >= len(joins):
            continue
        for place, following in zip(joins[::-1], [len(tokens), *joins[:0:-1]], strict=True):
            if not any(place < condition < following for condition in conditions):
                _make_cross(tokens, place)
    return join_tokens(tokens)


def _find_joins(tokens: list[Token], start: int) -> tuple[list[int], list[int]]:
    """The indices of the joins of one FROM that need a condition, and of the conditions."""
    depth, joins, conditions = 0, [], []
    for index in range(start, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
        word = tokens[index].upper
        if depth < 0 or (depth == 0 and word in _ENDS):
            break
        if depth == 0 and word == "JOIN" and tokens[index - 1].upper not in _OTHERS:
            joins.append(index)
        elif depth == 0 and word in _CONDITIONS:
            conditions.append(index)
    return joins, conditions


def _make_cross(tokens: list[Token], place: int) -> None:
    if tokens[place - 1].upper == "INNER":
        tokens[place - 1] = tokens[place - 1].spell("CROSS")
    else:
        tokens[place] = tokens[place].spell("CROSS JOIN")
