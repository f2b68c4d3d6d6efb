"""T-SQL's TOP."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import (
    SET_WORDS,
    Token,
    find_clause,
    find_end,
    join_tokens,
    split_tokens,
)

_LIMITS = ("LIMIT", "FETCH")


def top(sql: str, facts: Facts) -> str:
    """``SELECT TOP n …`` becomes ``SELECT … LIMIT n``, at the end of the same query.

    Does not change a share of the rows (PERCENT), nor an operand of UNION, whose LIMIT would apply
    to all operands.

    >>> top("SELECT TOP 3 a FROM t ORDER BY a", Facts("postgres"))
    'SELECT a FROM t ORDER BY a LIMIT 3'
    """
    tokens = split_tokens(sql)
    for index in range(len(tokens) - 1, 0, -1):
        if tokens[index].upper != "TOP" or not _follows_select(tokens, index):
            continue
        number, length = _read_number(tokens, index)
        end = find_end(tokens, index)
        is_joined = end < len(tokens) and tokens[end].upper in SET_WORDS
        if not number or is_joined:
            continue
        if find_clause(tokens, index, end, *_LIMITS) < 0:
            tokens[end:end] = [Token(" ", "LIMIT"), Token(" ", number)]
        del tokens[index : index + length]
    return join_tokens(tokens)


def _follows_select(tokens: list[Token], index: int) -> bool:
    if tokens[index - 1].upper in ("DISTINCT", "ALL"):
        index -= 1
    return index > 0 and tokens[index - 1].upper == "SELECT"


def _read_number(tokens: list[Token], index: int) -> tuple[str, int]:
    """The number after TOP and the number of tokens; ("", 0) if there is none."""
    texts = [token.upper for token in tokens[index : index + 6]]
    if texts[1:2] == ["("] and texts[3:4] == [")"]:
        number, length = texts[2], 4
    else:
        number, length = (texts[1] if len(texts) > 1 else ""), 2
    if not number.isdigit() or texts[length : length + 1] == ["PERCENT"]:
        return "", 0
    if texts[length : length + 2] == ["WITH", "TIES"]:
        length += 2
    return number, length
