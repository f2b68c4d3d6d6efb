"""Operators of programming languages and of other dialects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from repair.normalize.facts import Facts
from repair.normalize.tokens import CLAUSES, KEYWORDS, Token, find_opening, split_tokens

_COMPARISONS = frozenset(
    ("=", "==", "<>", "!=", "<", ">", "<=", ">=", "<=>", "LIKE", "ILIKE", "IN", "IS", "BETWEEN")
)
_ENDS = CLAUSES | {"AND", "OR", "WHEN", "THEN", "ELSE", "&&", "||", "CASE"}
_SAME = {"=<": "<=", "!<": ">=", "!>": "<="}


def operators(sql: str, facts: Facts) -> str:
    """Translates ``==``, ``&&``, ``||`` between conditions, ``!``, ``<=>``, ``=<`` and others.

    >>> operators("SELECT a FROM t WHERE b == 1 && !c", Facts("postgres"))
    'SELECT a FROM t WHERE b = 1 AND NOT c'
    """
    tokens = split_tokens(sql)
    texts: list[str] = []
    was_word = False
    for index, token in enumerate(tokens):
        word = _translate(tokens, index, facts.target)
        is_word = word != token.text and word[0].isalpha()
        needs_space = bool(texts) and not token.space and (is_word or was_word)
        texts.append((" " if needs_space else token.space) + word)
        was_word = is_word
    return "".join(texts).strip()


def _translate(tokens: Sequence[Token], index: int, target: str) -> str:
    """The operator in the target's form; any other token as it is."""
    text = tokens[index].text
    before, after = tokens[:index][::-1], tokens[index + 1 :]
    if text in _SAME:
        return _SAME[text]
    if text == "==" and target == "postgres":
        return "="
    if text == "=>" and not _is_argument(tokens, index):
        return ">="
    if text == "<=>":
        return "IS" if target == "sqlite" else "IS NOT DISTINCT FROM"
    if text == "&&" and (target == "sqlite" or _is_condition(before, ")") | _is_condition(after)):
        return "AND"
    if text == "||" and _is_condition(before, ")") and _is_condition(after):
        return "OR"
    if text == "!" and after and (after[0].text == "(" or after[0].is_word):
        return "NOT"
    return text


def _is_argument(tokens: Sequence[Token], index: int) -> bool:
    """Whether it is inside a call, where an arrow names an argument."""
    opening = find_opening(tokens, index)
    return opening > 0 and tokens[opening - 1].is_word and tokens[opening - 1].upper not in KEYWORDS


def _is_condition(tokens: Iterable[Token], opening: str = "(") -> bool:
    """Whether a comparison comes before the next AND, clause or end of the parentheses."""
    depth = 0
    for token in tokens:
        if token.text in ("(", ")"):
            depth += 1 if token.text == opening else -1
        if depth < 0 or (depth == 0 and token.upper in _ENDS):
            return False
        if token.upper in _COMPARISONS:
            return True
    return False
