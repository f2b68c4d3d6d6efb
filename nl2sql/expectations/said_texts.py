"""Whether a question mentions a text or a number."""

from __future__ import annotations

import re
from functools import lru_cache

from nl2sql.languages.english import NUMBER_WORDS, ORDINAL_WORDS, TIMES_WORDS
from nl2sql.words import fold_plural

_NUMBER_WORDS = {
    word: str(number)
    for word, number in (*NUMBER_WORDS.items(), *ORDINAL_WORDS.items(), *TIMES_WORDS.items())
}
# Values of flag columns, which questions do not mention in these words.
_FLAGS = frozenset("y n t f yes no true false".split())
# With so many common letters, "French" and "France" count as one word.
_STEM = 4
_WORDS = re.compile(r"[^\W_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_DATE = re.compile(r"(\d{4})-\d\d(-\d\d.*)?")
_NUMBERS = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w])")


def is_said(text: str, question: str) -> bool:
    """True if the words of a literal are in the question in the same order.

    Ignores case, plural and the ends of long words. Of a date, only the year must be mentioned.
    Flags such as yes and no always count as mentioned, a code in capitals by a word that it begins.

    >>> is_said("JetBlue Airways", "Give the number of Jetblue Airways flights.")
    True
    >>> is_said("%cat%", "with cats"), is_said("Italy", "Italian"), is_said("open", "shipped")
    (True, True, False)
    >>> is_said("2", "more than two concerts"), is_said("20", "in 2014")
    (True, False)
    >>> is_said("2014-06-21", "June 21, 2014"), is_said("M", "male"), is_said("3000", "3,000")
    (True, True, True)
    """
    if text.lower() in _FLAGS:
        return True
    if match := _DATE.fullmatch(text):
        text = match.group(1)
    said, places = _read_question(question)
    if text.isalpha() and text.isupper() and any(word.startswith(text.lower()) for word in said):
        return True
    if not (wanted := _split(text)):
        return True
    return any(
        len(said) - start >= len(wanted)
        and all(is_same_word(one, said[start + at]) for at, one in enumerate(wanted))
        for beginning in {wanted[0], wanted[0][:_STEM]}
        for start in places.get(beginning, ())
    )


# A query can hold hundreds of texts.
@lru_cache(maxsize=256)
def _read_question(question: str) -> tuple[list[str], dict[str, list[int]]]:
    """The words of the question, and the places of each, also by its first letters."""
    said = [_NUMBER_WORDS.get(word, word) for word in _split(_THOUSANDS.sub("", question))]
    places: dict[str, list[int]] = {}
    for at, word in enumerate(said):
        for beginning in {word, word[:_STEM]}:
            places.setdefault(beginning, []).append(at)
    return said, places


def list_numbers(question: str) -> tuple[str, ...]:
    """The numbers that a question contains as figures.

    >>> list_numbers("from 2,014 to 3.5 in group A7")
    ('2014', '3.5')
    """
    return tuple(number.replace(",", "") for number in _NUMBERS.findall(question))


def _split(text: str) -> list[str]:
    return [fold_plural(word.lower()) for word in _WORDS.findall(text)]


def is_same_word(one: str, other: str) -> bool:
    """True for equal words, and for long ones that begin alike."""
    if one == other:
        return True
    return min(len(one), len(other)) > _STEM and one[:_STEM] == other[:_STEM]
