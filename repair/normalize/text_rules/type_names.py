"""Types of other dialects in casts."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import Token, find_opening, join_tokens, split_tokens
from repair.normalize.types import CASTS, translate_type


def type_names(sql: str, facts: Facts) -> str:
    """Translates the types of ``CAST(a AS SIGNED)``, ``a::STRING``, ``SAFE_CAST(a AS INT64)``.

    >>> type_names("SELECT CAST(a AS SIGNED), b::STRING FROM t", Facts("postgres"))
    'SELECT CAST(a AS BIGINT), b::TEXT FROM t'
    >>> type_names("SELECT SAFE_CAST(a AS FLOAT64) FROM t", Facts("duckdb"))
    'SELECT TRY_CAST(a AS DOUBLE) FROM t'
    """
    tokens = split_tokens(sql)
    for index in range(len(tokens) - 1, 0, -1):
        if tokens[index].upper in CASTS and tokens[index + 1 : index + 2] == [Token("", "(")]:
            tokens[index] = tokens[index].spell(CASTS[tokens[index].upper][facts.target])
        if not _is_type(tokens, index):
            continue
        is_sized = tokens[index + 1 : index + 2] == [Token("", "(")]
        if tokens[index + 1 : index + 2] and tokens[index + 1].upper == "PRECISION":
            continue
        meant = translate_type(tokens[index].upper, facts.target, is_sized=is_sized)
        if meant and meant != tokens[index].upper:
            tokens[index] = tokens[index].spell(meant)
            if tokens[index + 1 : index + 2] and tokens[index + 1].upper in ("INT", "INTEGER"):
                del tokens[index + 1]  # SIGNED INTEGER
    return join_tokens(tokens)


def _is_type(tokens: list[Token], index: int) -> bool:
    """Whether the token is the type of a cast."""
    before = tokens[index - 1]
    if before.text == "::":
        return True
    opening = find_opening(tokens, index)
    is_cast = opening > 0 and tokens[opening - 1].upper.endswith("CAST")
    return before.upper == "AS" and is_cast
