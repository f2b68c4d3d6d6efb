"""MySQL's and BigQuery's quotes around names."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import join_tokens, split_tokens


def backticks(sql: str, facts: Facts) -> str:
    """Quotes names in backticks as the target requires; BigQuery's may contain a path.

    >>> backticks("SELECT `name` FROM `shop.order`", Facts("postgres"))
    'SELECT name FROM shop."order"'
    """
    if facts.target == "sqlite":
        return sql  # the target reads them
    tokens = split_tokens(sql)
    for index, token in enumerate(tokens):
        if token.text[0] == "`" and len(token.text) > 2:
            names = token.text[1:-1].split(".")
            tokens[index] = token.spell(".".join(facts.spell(name) for name in names))
    return join_tokens(tokens)
