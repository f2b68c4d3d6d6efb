"""Texts in the form in which PostgreSQL can store them."""

from __future__ import annotations


def clean_text(text: str) -> str:
    """The text without what PostgreSQL cannot store: null characters and lone surrogates.

    >>> clean_text("a\\0b")
    'ab'
    """
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
