"""The values of columns with few values, as SQL literals."""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.types import VALUES_MARK

MOST_VALUES = 12
_LONGEST = 200


def render_enumeration(values: Sequence[str], comment: str = "") -> str:
    """``values: 'a', 'b'``; empty if they are many or long, or the comment names all of them.

    >>> render_enumeration(["OPN", "it's"])
    "values: 'OPN', 'it''s'"
    >>> render_enumeration(["OPN", "CXL"], "OPN = open, CXL = cancelled")
    ''
    """
    if not 0 < len(values) <= MOST_VALUES or all(value in comment for value in values):
        return ""
    # Untrusted text: a line break in a value must not end the prompt's line.
    shown = (" ".join(value.split()).replace("'", "''") for value in values)
    text = ", ".join(f"'{value}'" for value in shown)
    return f"{VALUES_MARK}{text}" if len(text) <= _LONGEST else ""
