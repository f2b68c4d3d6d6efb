"""A keyword and the following name in one word."""

from __future__ import annotations

import re

from repair.normalize.facts import Facts
from repair.normalize.tokens import join_tokens, split_tokens

_BEFORE_TABLE = re.compile(r"(FROM|JOIN)(\w+)", re.IGNORECASE)
# Only in capitals: any other word that begins so may be an alias.
_BEFORE_COLUMN = re.compile(r"(SELECT|DISTINCT|WHERE|AND|OR|BY|ON)(?=\w*[a-z])(\w+)")
_BEFORE_NUMBER = re.compile(r"(LIMIT|OFFSET|TOP)(\d+)", re.IGNORECASE)


def glued_keywords(sql: str, facts: Facts) -> str:
    """``FROMship`` becomes ``FROM ship`` if there is such a table, ``LIMIT5`` becomes ``LIMIT 5``.

    >>> glued_keywords("SELECT a FROM t LIMIT5", Facts("postgres"))
    'SELECT a FROM t LIMIT 5'
    """
    tokens = split_tokens(sql)
    for index, token in enumerate(tokens):
        if not token.is_word or token.text.lower() in facts.names:
            continue
        if found := _BEFORE_TABLE.fullmatch(token.text):
            is_glued = found[2].lower() in facts.table_names
        elif found := _BEFORE_COLUMN.fullmatch(token.text):
            is_glued = found[2].lower() in facts.names
        else:
            found = _BEFORE_NUMBER.fullmatch(token.text)
            is_glued = found is not None
        if found and is_glued:
            tokens[index] = token.spell(f"{found[1]} {found[2]}")
    return join_tokens(tokens)
