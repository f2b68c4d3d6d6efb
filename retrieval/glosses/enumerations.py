"""The values of a column that has few of them, as SQL writes them."""

from __future__ import annotations

from collections.abc import Sequence

MOST_VALUES = 12
_LONGEST = 200


def render_enumeration(values: Sequence[str], comment: str = "") -> str:
    """``values: 'a', 'b'``; empty where there are many, they are long, or the comment has them all.

    >>> render_enumeration(["OPN", "it's"])
    "values: 'OPN', 'it''s'"
    >>> render_enumeration(["OPN", "CXL"], "OPN = open, CXL = cancelled")
    ''
    """
    if not 0 < len(values) <= MOST_VALUES or all(value in comment for value in values):
        return ""
    # A value is text that somebody wrote: it must not end the line it stands in.
    shown = (" ".join(value.split()).replace("'", "''") for value in values)
    text = ", ".join(f"'{value}'" for value in shown)
    return f"values: {text}" if len(text) <= _LONGEST else ""
