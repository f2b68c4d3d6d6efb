"""Chooses the media type of a response (RFC 9110, section 12.5.1).

Knows nothing of what is served. Ignores parameters of media types except ``q``.
"""

from __future__ import annotations

from collections.abc import Sequence


def choose_media_type(accept: str, offered: Sequence[str]) -> str | None:
    """The offered type that ``accept`` prefers, the first of equals; None if it accepts none.

    An empty header accepts everything. A q that is not a number from 0 to 1 counts as 1.

    >>> offered = ("application/json", "text/csv")
    >>> choose_media_type("text/*;q=0.5, application/json;q=0.1", offered)
    'text/csv'
    >>> choose_media_type("*/*", offered), choose_media_type("image/png", offered)
    ('application/json', None)
    """
    ranges = [_read_range(text) for text in accept.split(",") if text.strip()]
    if not ranges:
        return offered[0]
    best = max(offered, key=lambda media_type: _rate(media_type, ranges))
    return best if _rate(best, ranges) > 0 else None


def _read_range(text: str) -> tuple[str, float]:
    name, *parameters = (part.strip().lower() for part in text.split(";"))
    quality = 1.0
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            try:
                quality = float(value)
            except ValueError:
                quality = 1.0
    return name, quality if 0 <= quality <= 1 else 1.0


def _rate(media_type: str, ranges: Sequence[tuple[str, float]]) -> float:
    """The q of the most specific range that matches; 0 if none does."""
    family = f"{media_type.partition('/')[0]}/*"
    for wanted in (media_type, family, "*/*"):
        found = [quality for name, quality in ranges if name == wanted]
        if found:
            return max(found)
    return 0.0
