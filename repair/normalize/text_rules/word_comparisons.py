"""Comparisons in words that no database knows."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import Token, join_tokens, split_tokens

# Longer phrases first, since the first match is replaced.
_PHRASES = (
    ("IS NOT IN", "NOT IN"),
    ("IS NOT LIKE", "NOT LIKE"),
    ("IS NOT ILIKE", "NOT ILIKE"),
    ("IS NOT BETWEEN", "NOT BETWEEN"),
    ("IS NOT EQUAL TO", "<>"),
    ("IS NOT =", "<>"),
    ("IS EQUAL TO", "="),
    ("IS GREATER THAN", ">"),
    ("IS LESS THAN", "<"),
    ("IS IN", "IN"),
    ("IS LIKE", "LIKE"),
    ("IS ILIKE", "ILIKE"),
    ("IS BETWEEN", "BETWEEN"),
    ("IS =", "="),
    ("IS >=", ">="),
    ("IS <=", "<="),
    ("IS >", ">"),
    ("IS <", "<"),
    ("= IN", "IN"),
    ("IN =", "IN"),
    ("= LIKE", "LIKE"),
    ("= BETWEEN", "BETWEEN"),
    ("NOT =", "<>"),
)


_WORDS = tuple((phrase.split(), meant) for phrase, meant in _PHRASES)
# The first words of the phrases, to skip most tokens quickly.
_FIRST = frozenset(words[0] for words, _ in _WORDS)


def word_comparisons(sql: str, facts: Facts) -> str:
    """Translates ``IS NOT IN``, ``= LIKE``, ``IS EQUAL TO``, ``x NOT NULL`` and the like.

    >>> word_comparisons("SELECT a FROM t WHERE b IS NOT IN (1, 2)", Facts("postgres"))
    'SELECT a FROM t WHERE b NOT IN (1, 2)'
    """
    tokens = split_tokens(sql)
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        length, phrase = _match(tokens, index)
        if length:
            result.append(Token(tokens[index].space or " ", phrase))
            index += length
            continue
        result.append(tokens[index])
        index += 1
    return join_tokens(result)


def _match(tokens: list[Token], index: int) -> tuple[int, str]:
    """The number of tokens of a phrase here, and its replacement; (0, "") if there is none."""
    if tokens[index].upper not in _FIRST:
        return 0, ""
    words = [token.upper for token in tokens[index : index + 4]]
    for wanted, meant in _WORDS:
        if words[: len(wanted)] == wanted:
            return len(wanted), meant
    is_after_value = index > 0 and (tokens[index - 1].is_name or tokens[index - 1].text == ")")
    if words[:2] == ["NOT", "NULL"] and is_after_value:
        return 2, "IS NOT NULL"
    return 0, ""
