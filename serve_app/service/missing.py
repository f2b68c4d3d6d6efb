"""What a request names and its principal cannot see, whether or not it exists."""

from __future__ import annotations

from nl2sql.errors import InvalidRequest


class Missing(InvalidRequest):
    """There is nothing of that name. ``field`` says what was named."""
