"""Quotes and spaces of word processors."""

from __future__ import annotations

from repair.normalize.facts import Facts
from repair.normalize.tokens import Token, join_tokens, split_tokens

_SIGNS = {
    **dict.fromkeys("\u2018\u2019\u201a\u2032\u00b4", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
    **dict.fromkeys("\uff08", "("),
    **dict.fromkeys("\uff09", ")"),
    **dict.fromkeys("\uff0c", ","),
    **dict.fromkeys("\u2212\u2013", "-"),
    **dict.fromkeys("\u2265", ">="),
    **dict.fromkeys("\u2264", "<="),
    **dict.fromkeys("\u2260", "<>"),
}


def smart_quotes(sql: str, facts: Facts) -> str:
    """Typographic characters outside text become those of SQL; inside text they stay.

    >>> smart_quotes("SELECT a FROM t WHERE b = \u2018x\u2019", Facts("postgres"))
    "SELECT a FROM t WHERE b = 'x'"
    """
    tokens = split_tokens(sql)
    return join_tokens(
        [
            Token(
                "".join(" " if not sign.isascii() else sign for sign in token.space)
                if token.space.isspace()
                else token.space,
                _SIGNS.get(token.text, token.text),
            )
            for token in tokens
        ]
    )
