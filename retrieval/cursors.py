"""Where a page of a list ended: the sort key of its last entry, as a text for clients.

The next page begins after that key, so pages stay right while entries come and go.
"""

from __future__ import annotations

import base64
import binascii
import json
from datetime import UTC, datetime

from nl2sql.errors import InvalidRequest

_LONGEST = 4000


def write_cursor(*key: str) -> str:
    """The text of a sort key.

    >>> read_cursor(write_cursor("2", "sales.orders"), 2)
    ('2', 'sales.orders')
    """
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def read_cursor(text: str, parts: int) -> tuple[str, ...]:
    """The sort key of ``parts`` texts. Raises InvalidRequest for a text of another origin."""
    try:
        if len(text) > _LONGEST:
            raise ValueError
        key = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), "-_", validate=True))
        if not isinstance(key, list) or len(key) != parts:
            raise ValueError
        if not all(isinstance(part, str) and part.isprintable() for part in key):
            raise ValueError
    except (ValueError, binascii.Error, RecursionError) as error:
        raise refuse_cursor() from error
    return tuple(key)


def read_time_cursor(text: str) -> tuple[datetime, str] | None:
    """The time and the id of a sort key; None for an empty text. Raises InvalidRequest."""
    if not text:
        return None
    moment, id_ = read_cursor(text, 2)
    try:
        read = datetime.fromisoformat(moment)
        if read.tzinfo is None:
            raise refuse_cursor()
        # PostgreSQL knows fewer time zones.
        return read.astimezone(UTC), id_
    except (ValueError, OverflowError) as error:
        raise refuse_cursor() from error


def refuse_cursor() -> InvalidRequest:
    """The error for a text that is not the cursor of this list."""
    return InvalidRequest("It is not the `next` of an earlier page.", field="after")
