"""Clauses in the wrong order."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import Token, find_end, join_tokens, split_tokens

_ORDER = ("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "OFFSET")
_FIRST = frozenset(_ORDER)


def clause_order(sql: str, facts: Facts) -> str:
    """Sorts the clauses of each query; a query with the same clause twice stays as it is.

    >>> clause_order("SELECT a FROM t LIMIT 3 ORDER BY a WHERE b = 1", Facts("postgres"))
    'SELECT a FROM t WHERE b = 1 ORDER BY a LIMIT 3'
    """
    tokens = split_tokens(sql)
    for start in range(len(tokens) - 1, -1, -1):
        if tokens[start].upper != "SELECT":
            continue
        end = find_end(tokens, start)
        starts = _find_clauses(tokens, start, end)
        words = [tokens[place].upper for place in starts]
        ranks = [_ORDER.index(word) for word in words]
        if ranks == sorted(ranks) or len(set(words)) < len(words):
            continue
        parts = [tokens[a:b] for a, b in zip(starts, [*starts[1:], end], strict=True)]
        ordered = [part for _, part in sorted(zip(ranks, parts, strict=True), key=lambda p: p[0])]
        tokens[start:end] = [token for part in ordered for token in _space(part, tokens[start])]
    return join_tokens(tokens)


def _find_clauses(tokens: list[Token], start: int, end: int) -> list[int]:
    """The indices at which the clauses of one query begin."""
    depth, places = 0, []
    for index in range(start, end):
        depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
        if depth == 0 and _begins_clause(tokens, index):
            places.append(index)
    return places


def _begins_clause(tokens: list[Token], index: int) -> bool:
    word = tokens[index].upper
    if word in ("GROUP", "ORDER"):  # and not WITHIN GROUP
        return index + 1 < len(tokens) and tokens[index + 1].upper == "BY"
    following = tokens[index + 1].upper if index + 1 < len(tokens) else ""
    if word in ("LIMIT", "OFFSET"):  # and not a column of that name
        return following.isdigit() or following in ("(", "ALL")
    if word == "WINDOW":
        return [token.upper for token in tokens[index + 2 : index + 3]] == ["AS"]
    is_distinct = word == "FROM" and tokens[index - 1].upper == "DISTINCT"
    return word in _FIRST and not is_distinct


def _space(part: list[Token], first: Token) -> list[Token]:
    """The clause, with a space before it unless it comes first."""
    space = first.space if part[0].upper == "SELECT" else part[0].space or " "
    return [Token(space, part[0].text), *part[1:]]
