"""The texts of a request: not too long, and of characters that databases and models take."""

from __future__ import annotations

import re

from nl2sql.errors import InvalidRequest

# JSON can write half a character, which no encoding can; PostgreSQL keeps no NUL.
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")


def check_text(field: str, text: str, most: int) -> str:
    """The text without the space around it. Raises InvalidRequest."""
    text = text.strip()
    if len(text) > most:
        raise InvalidRequest(
            f"The {field} has {len(text)} characters, {most} are allowed.", field=field
        )
    if _NO_CHARACTER.search(text):
        raise InvalidRequest(f"The {field} holds what is no character.", field=field)
    return text


def check_filled(field: str, text: str, most: int) -> str:
    """As ``check_text``, and not empty. Raises InvalidRequest."""
    if not text.strip():
        raise InvalidRequest(f"The {field} is empty.", field=field)
    return check_text(field, text, most)
