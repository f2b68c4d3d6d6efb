"""T-SQL's quotes around names."""

from __future__ import annotations

from collections.abc import Sequence

from repair.normalize.facts import Facts
from repair.normalize.tokens import KEYWORDS, Token, join_tokens, split_tokens

_SOURCES = frozenset({"FROM", "JOIN"})


def brackets(sql: str, facts: Facts) -> str:
    """Quotes names in brackets as the target requires; subscripts and lists stay.

    >>> brackets("SELECT [first name], tags[1] FROM [users]", Facts("postgres"))
    'SELECT "first name", tags[1] FROM users'
    """
    if facts.target == "sqlite":
        return sql  # the target reads them
    tokens = split_tokens(sql)
    spans = _find_spans(tokens)
    if facts.target == "duckdb" and not any(_is_source(tokens, start) for start, _ in spans):
        return sql  # [a, b] is a list there
    for start, end in reversed(spans):
        name = join_tokens(tokens[start + 1 : end])
        tokens[start : end + 1] = [tokens[start].spell(facts.spell(name))]
    return join_tokens(tokens)


def _find_spans(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """The indices of brackets that enclose only words and do not follow a value."""
    spans = []
    for start, token in enumerate(tokens):
        if token.text != "[" or (start and not _may_precede(tokens[start - 1])):
            continue
        end = start + 1
        while end < len(tokens) and (tokens[end].is_word or tokens[end].text.isdigit()):
            end += 1
        words = tokens[start + 1 : end]
        is_closed = end < len(tokens) and tokens[end].text == "]"
        if is_closed and words and words[0].is_word:
            spans.append((start, end))
    return spans


def _may_precede(token: Token) -> bool:
    if token.is_word:
        return token.upper in KEYWORDS
    return token.text[0] not in "'\"`)]" and not token.text[0].isdigit()


def _is_source(tokens: Sequence[Token], start: int) -> bool:
    return bool(start) and (tokens[start - 1].upper in _SOURCES or tokens[start - 1].text == ".")
