"""Finds the numbers in a text, in digits and in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from nl2sql.languages.english import NUMBER_WORDS

_SMALL = {**NUMBER_WORDS, "dozen": 12, "once": 1, "twice": 2, "double": 2, "triple": 3}
_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_SCALES_SHORT = {"k": 10**3, "m": 10**6, "bn": 10**9}
_TOKEN = re.compile(
    r"(?P<digits>[-−]?(?:\d{1,3}(?:[,\u00a0\u202f' ]\d{3})+(?!\d)|\d+)(?:\.\d+)?)"  # noqa: RUF001
    r"\s?(?P<unit>%|percent\b|hundred\b|thousand\b|million\b|billion\b|(?:k|m|bn)\b)?"
    r"|(?P<word>[^\W\d_]+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SpokenNumber:
    """A number in a text, from ``start`` to ``end``.

    ``step`` is the value of its last digit's unit: 0.1 for "1.5", 100,000 for "1.5 million".
    """

    value: Decimal
    start: int
    end: int
    step: Decimal = Decimal(1)
    is_percent: bool = False


def find_numbers(text: str) -> Iterator[SpokenNumber]:
    """All numbers in order.

    >>> [str(found.value) for found in find_numbers("1,234.5 of twenty-one thousand, 2.5 million")]
    ['1234.5', '21000', '2500000.0']
    """
    words: list[tuple[str, int, int]] = []
    for match in _TOKEN.finditer(text):
        if match["word"]:
            word = match["word"].lower()
            if word in _SMALL or (words and word in _SCALES):
                words.append((word, match.start(), match.end()))
                continue
            if word == "and" and words:
                continue
        if words:
            yield _read_words(words)
            words = []
        if match["digits"]:
            yield _read_digits(match)
    if words:
        yield _read_words(words)


def _read_digits(match: re.Match[str]) -> SpokenNumber:
    digits = re.sub(r"[,\u00a0\u202f' ]", "", match["digits"]).replace("−", "-")  # noqa: RUF001
    unit = (match["unit"] or "").lower()
    scale = _SCALES.get(unit) or _SCALES_SHORT.get(unit) or 1
    places = len(digits.partition(".")[2])
    return SpokenNumber(
        Decimal(digits) * scale,
        match.start(),
        match.end(),
        Decimal(1).scaleb(-places) * scale,
        unit in ("%", "percent"),
    )


def _read_words(words: list[tuple[str, int, int]]) -> SpokenNumber:
    total = part = 0
    for word, _, _ in words:
        if word == "hundred":
            part = (part or 1) * 100
        elif word in _SCALES:
            total, part = total + (part or 1) * _SCALES[word], 0
        else:
            part += _SMALL[word]
    return SpokenNumber(Decimal(total + part), words[0][1], words[-1][2])
