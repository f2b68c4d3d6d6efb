"""The lists of the lexicon for the rules that read English."""

from __future__ import annotations

from nl2sql.languages import load_lexicon


def list_english(section: str) -> frozenset[str]:
    """The English words of a section, which says what they are."""
    return frozenset(load_lexicon()[section]["en"].split())


def _count_english(section: str) -> dict[str, int]:
    return {
        word.strip(): int(number)
        for number, said in load_lexicon()[section].items()
        for word in said["en"].split(",")
    }


NUMBER_WORDS = _count_english("numbers")
"""Zero to nineteen and the tens, in lower case."""
ORDINAL_WORDS = _count_english("ordinals")
"""First to ninth, in lower case."""
TIMES_WORDS = _count_english("times_said")
"""Once, twice and thrice."""
MONTH_WORDS = _count_english("months")
"""The names of the months and their abbreviations, capitalised."""
TIME_WORDS = list_english("times")
"""Words that say that something is about a time."""


def read_number(word: str) -> int:
    """The number that digits or a word of ``NUMBER_WORDS`` say.

    >>> read_number("12"), read_number("Twelve")
    (12, 12)
    """
    return int(word) if word.isdigit() else NUMBER_WORDS[word.lower()]
