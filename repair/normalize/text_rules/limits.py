"""Other forms of LIMIT."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import Token, join_tokens, split_tokens

_ROWS = frozenset({"ROW", "ROWS"})


def limits(sql: str, facts: Facts) -> str:
    """``LIMIT 5, 10``, ``FETCH FIRST 10 ROWS ONLY``, ``OFFSET 5 ROWS`` become LIMIT and OFFSET.

    >>> limits("SELECT a FROM t LIMIT 5, 10", Facts("postgres"))
    'SELECT a FROM t LIMIT 10 OFFSET 5'
    >>> limits("SELECT a FROM t OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY", Facts("sqlite"))
    'SELECT a FROM t LIMIT 10 OFFSET 5'
    """
    tokens = split_tokens(sql)
    index = 0
    while index < len(tokens):
        length, limit, offset = _read(tokens, index, facts.target)
        if length:
            words = [*(("LIMIT", limit) if limit else ()), *(("OFFSET", offset) if offset else ())]
            tokens[index : index + length] = [Token(" ", word) for word in words]
        index += 1
    return join_tokens(tokens)


def _read(tokens: list[Token], index: int, target: str) -> tuple[int, str, str]:
    """The number of tokens of another form of LIMIT, its number and its offset; or (0, "", "")."""
    words = [token.upper for token in tokens[index : index + 8]]
    if len(words) > 3 and words[0] == "LIMIT" and words[2] == "," and target != "sqlite":
        return 4, words[3], words[1]
    if words[:1] == ["LIMIT"] and words[2:4] in (["ROWS", "ONLY"], ["ROW", "ONLY"]):
        return 4, words[1], ""
    if words[:1] == ["FETCH"] and target != "postgres":
        length, limit = _read_fetch(words)
        return length, limit, ""
    if words[:1] == ["OFFSET"] and len(words) > 2 and words[1].isdigit():
        length = 3 if words[2] in _ROWS else 2
        fetched, limit = _read_fetch(words[length:])
        if fetched:
            return length + fetched, limit, words[1]
        if words[length : length + 1] == ["LIMIT"] and words[length + 1].isdigit():
            return length + 2, words[length + 1], words[1]
        return (3, "", words[1]) if length == 3 else (0, "", "")
    return 0, "", ""


def _read_fetch(words: list[str]) -> tuple[int, str]:
    """The number of words of FETCH FIRST, and its number; (0, "") for anything else."""
    if len(words) < 4 or words[0] != "FETCH" or words[1] not in ("FIRST", "NEXT"):
        return 0, ""
    if words[2] in _ROWS and words[3] == "ONLY":
        return 4, "1"
    if words[2].isdigit() and words[3] in _ROWS and words[4:5] == ["ONLY"]:
        return 5, words[2]
    return 0, ""
