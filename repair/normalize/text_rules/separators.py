"""MySQL's SEPARATOR."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import Token, find_clause, find_opening, join_tokens, split_tokens


def separators(sql: str, facts: Facts) -> str:
    """The separator of GROUP_CONCAT becomes its second argument, before any ORDER BY.

    >>> separators("SELECT group_concat(a ORDER BY b SEPARATOR '; ') FROM t", Facts("postgres"))
    "SELECT group_concat(a, '; ' ORDER BY b) FROM t"
    """
    tokens = split_tokens(sql)
    for index in range(len(tokens) - 2, 0, -1):
        opening = find_opening(tokens, index)
        if tokens[index].upper != "SEPARATOR" or opening < 0 or tokens[index + 1].text[0] != "'":
            continue
        text = tokens[index + 1].text
        order = find_clause(tokens, opening + 1, index, "ORDER")
        del tokens[index : index + 2]
        place = order if order > 0 else index
        tokens[place:place] = [Token("", ","), Token(" ", text)]
    return join_tokens(tokens)
