"""Aliases of outputs that are not valid names."""

from __future__ import annotations

from nl2sql.sql.names import enquote
from repair.normalize.facts import Facts
from repair.normalize.tokens import Token, find_opening, join_tokens, split_tokens

_ENDS = frozenset({",", "FROM", ")"})
_ODD = frozenset("%#$@!?-/&.+")


def aliases(sql: str, facts: Facts) -> str:
    """Corrects aliases with several words, odd signs, an initial digit, or single quotes.

    >>> aliases("SELECT count(*) AS total orders FROM t", Facts("postgres"))
    'SELECT count(*) AS total_orders FROM t'
    >>> aliases("SELECT count(*) AS 'All orders', max(a) AS share % FROM t", Facts("postgres"))
    'SELECT count(*) AS "All orders", max(a) AS share FROM t'
    """
    tokens = split_tokens(sql)
    for index in range(len(tokens) - 2, -1, -1):
        if tokens[index].upper != "AS" or _is_cast(tokens, index):
            continue
        end = index + 1
        while end < len(tokens) and tokens[end].upper not in _ENDS and end - index <= 6:
            end += 1
        words = tokens[index + 1 : end]
        if end < len(tokens) and (alias := _spell(words)):
            tokens[index + 1 : end] = [Token(" ", alias)]
    return join_tokens(tokens)


def _spell(words: list[Token]) -> str:
    """The words after AS as one name; empty if they are one already, or cannot be one."""
    texts = [word.text for word in words]
    if len(texts) == 1:
        text = texts[0]
        return enquote(text[1:-1].replace("''", "'")) if text[0] == "'" and len(text) > 2 else ""
    is_word = [word.is_name and word.text[0] != '"' for word in words]
    fits = all(
        good or text in _ODD or text.isdigit() for good, text in zip(is_word, texts, strict=True)
    )
    if not texts or not fits or not any(is_word):
        return ""
    kept = [text for text in texts if text not in _ODD]
    name = "_".join(text.strip("_") for text in kept)
    return enquote(name) if name[0].isdigit() else name


def _is_cast(tokens: list[Token], index: int) -> bool:
    """Whether AS precedes a type or the query of a CTE."""
    opening = find_opening(tokens, index)
    is_call = opening > 0 and "CAST" in tokens[opening - 1].upper
    return is_call or tokens[index + 1].text == "("
