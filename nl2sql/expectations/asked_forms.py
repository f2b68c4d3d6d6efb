"""Reads how a question wants figures rounded."""

from __future__ import annotations

import re

from nl2sql.languages.english import NUMBER_WORDS

_NUMBER = rf"(?P<number>\d|{'|'.join(NUMBER_WORDS)})"
_ROUNDED = re.compile(
    rf"\bround(?:ed)?\b[^.;?]{{0,30}}?\bto\s+(?:(?:the\s+)?{_NUMBER}\s+decimals?\b|"
    r"(?P<whole>(?:the\s+nearest\s+|whole\s+)\w+))",
    re.IGNORECASE,
)


def read_decimals(question: str) -> int | None:
    """The number of decimals to which figures should be rounded; None if it does not say.

    >>> questions = "rounded to two decimals", "Round to 1 decimal", "rounded to whole euros", "all"
    >>> [read_decimals(question) for question in questions]
    [2, 1, 0, None]
    """
    found = _ROUNDED.search(question)
    if found is None:
        return None
    if found["whole"]:
        return 0
    word = found["number"].lower()
    return int(word) if word.isdigit() else NUMBER_WORDS[word]
