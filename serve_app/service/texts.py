"""Checks the length of a request's texts, and that databases and models accept their characters."""

from __future__ import annotations

import re

from nl2sql.errors import InvalidRequest

# JSON can contain lone surrogates, which UTF-8 cannot encode; PostgreSQL stores no NUL.
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")


def check_text(field: str, text: str, most: int) -> str:
    """The text without surrounding white space. Raises InvalidRequest."""
    text = text.strip()
    if len(text) > most:
        raise InvalidRequest(
            f"The {field} has {len(text)} characters; {most} are allowed.", field=field
        )
    if _NO_CHARACTER.search(text):
        raise InvalidRequest(f"The {field} contains an invalid character.", field=field)
    return text


def check_filled(field: str, text: str, most: int) -> str:
    """As ``check_text``; also refuses an empty text. Raises InvalidRequest."""
    if not text.strip():
        raise InvalidRequest(f"The {field} is empty.", field=field)
    return check_text(field, text, most)
