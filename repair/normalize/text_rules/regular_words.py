"""MySQL's operators for a match with a regular expression."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import join_tokens, split_tokens


def regular_words(sql: str, facts: Facts) -> str:
    """``REGEXP`` and ``RLIKE`` become ``~`` in PostgreSQL.

    >>> regular_words("SELECT a FROM t WHERE b NOT REGEXP '^x'", Facts("postgres"))
    "SELECT a FROM t WHERE b !~ '^x'"
    """
    if facts.target != "postgres":
        return sql
    tokens = split_tokens(sql)
    for index in range(len(tokens) - 2, 0, -1):
        if tokens[index].upper not in ("REGEXP", "RLIKE") or tokens[index + 1].text == "(":
            continue
        tokens[index] = tokens[index].spell("~")
        if tokens[index - 1].upper == "NOT":
            tokens[index - 1 : index + 1] = [tokens[index - 1].spell("!~")]
    return join_tokens(tokens)
