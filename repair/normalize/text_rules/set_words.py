"""Other dialects' keywords for DISTINCT and EXCEPT."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import SET_WORDS, join_tokens, split_tokens


def set_words(sql: str, facts: Facts) -> str:
    """Translates Oracle's MINUS and UNIQUE, BigQuery's ``UNION DISTINCT``, MySQL's DISTINCTROW.

    >>> set_words("SELECT UNIQUE a FROM t MINUS SELECT b FROM u", Facts("postgres"))
    'SELECT DISTINCT a FROM t EXCEPT SELECT b FROM u'
    """
    tokens = split_tokens(sql)
    for index in range(len(tokens) - 1, 0, -1):
        word, before = tokens[index].upper, tokens[index - 1].upper
        following = tokens[index + 1].upper if index + 1 < len(tokens) else ""
        if word == "MINUS" and following in ("SELECT", "("):
            tokens[index] = tokens[index].spell("EXCEPT")
        elif word in ("UNIQUE", "DISTINCTROW") and before in ("SELECT", "("):
            tokens[index] = tokens[index].spell("DISTINCT")
        elif word == "DISTINCT" and before in SET_WORDS:
            del tokens[index]
    return join_tokens(tokens)
