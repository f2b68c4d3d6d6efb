"""Checks a request: its texts, numbers and ids; and what it names that nobody may see.

Databases and models accept the characters that pass here.
"""

from __future__ import annotations

import re
import secrets

from nl2sql.errors import InvalidRequest
from nl2sql.settings import LimitSettings

# JSON can contain lone surrogates, which UTF-8 cannot encode; PostgreSQL stores no NUL.
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")
NEW = "new"
"""The session of a request that wants a new one."""
SESSION = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""The id of a session."""

MOST_QUESTION_CHARS = 4000
"""The longest question."""
MOST_SEARCH_CHARS = 200
"""The longest text that tables, columns and conversations are searched for."""


class NotFound(InvalidRequest):
    """There is nothing of that name. ``field`` says what was named."""


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


def choose_max_rows(value: int | None, limits: LimitSettings) -> int:
    """The value, or the default if it is None. Raises InvalidRequest if it is out of range."""
    most = limits.max_rows
    if value is None:
        return min(limits.rows, most)
    if not 1 <= value <= most:
        text = f"max_rows must be from 1 to {most}; it is {value}."
        raise InvalidRequest(text, field="max_rows")
    return value


def check_session(session: str) -> str:
    """The id, unchanged. Raises InvalidRequest."""
    if not SESSION.fullmatch(session):
        raise InvalidRequest(
            "A session's id is 1 to 64 letters, digits, dots, dashes or underscores.",
            field="session",
        )
    return session


def read_session(session: str | None) -> str:
    """The id of a request: empty for none, a fresh one for ``new``. Raises InvalidRequest.

    >>> read_session(None), read_session("my-chat"), len(read_session("new"))
    ('', 'my-chat', 16)
    """
    if session is None:
        return ""
    return secrets.token_hex(8) if session == NEW else check_session(session)
