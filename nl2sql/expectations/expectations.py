"""Derives from the words of a question what its answer should look like.

Conservative: words that are not recognised raise no expectation, and so count against no answer.
Reads English: of a question in another language, its phrases. The patterns were made from Spider's
training questions; docs/measurements.md says how often they are right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from nl2sql.expectations.asked_columns import count_columns
from nl2sql.languages.english import NUMBER_WORDS, read_number

_SUPERLATIVE = (
    r"(?:most|least|fewest|highest|lowest|largest|smallest|biggest|greatest|oldest|youngest|latest|"
    r"earliest|newest|longest|shortest|best|worst|heaviest|lightest|cheapest|tallest|fastest|"
    r"slowest|maximum|minimum|max|min)"
)
_GROUPED = re.compile(
    r"\b(?:for|of|in|by|from|at|to|on|with|does|do|did|have|has)\s+each\b"
    # "Miles per gallon" is one figure, of a row.
    r"|\bper\b(?!\s+(?:second|minute|hour|week|gallon|mile|head|capita|square)\b)|\bgrouped by\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    rf"\b(?:numbers? of|count|average|mean|total|sum|how many|{_SUPERLATIVE})\b", re.IGNORECASE
)
_COUNT = rf"(?:\d+|{'|'.join(NUMBER_WORDS)})"
_TOP = re.compile(
    rf"\b(?:top|first|last|bottom)\s+({_COUNT})\b|\b({_COUNT})\s+{_SUPERLATIVE}\b"
    # "The five employees with the highest salary".
    rf"|\b({_COUNT})\s+(?:\w+\s+){{1,3}}(?:with|have|has|had)\s+the\s+{_SUPERLATIVE}\b",
    re.IGNORECASE,
)
_ONE_BEST = re.compile(rf"\bthe\s+(?:single\s+)?{_SUPERLATIVE}\b", re.IGNORECASE)
_DISTINCT = re.compile(r"\b(?:distinct|different|unique)\b", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:do|does|did|have|has|had|is|are|was|were)(?: not| never|n't)\b"
    r"|\b(?:never|without|except|excluding)\b|\b(?:have|has|had|with) no\b",
    re.IGNORECASE,
)
_AVERAGE = re.compile(r"\b(?:average|mean|avg)\b", re.IGNORECASE)
_SHARE = re.compile(
    r"\b(?:percent(?:age)?s?|pct|proportions?|fractions?|(?:what|which) shares?|shares? of)\b|%",
    re.IGNORECASE,
)
_DOWN = re.compile(r"\b(?:descending|decreasing)\b", re.IGNORECASE)
_UP = re.compile(
    r"\b(?:ascending|increasing|alphabetical(?:ly)?|lexicographic(?:al|ally)?)\b", re.IGNORECASE
)
# "Most orders first", "from lowest to highest": the order of rows, not one of them.
_HIGH_WORD = r"(?:most|highest|largest|biggest|greatest|longest|newest|latest)"
_LOW_WORD = r"(?:least|fewest|lowest|smallest|shortest|cheapest|oldest|earliest)"
_DOWN_FIRST = re.compile(
    rf"(?:,\s*)?\b(?:the\s+)?{_HIGH_WORD}\s+(?:[\w-]+\s+){{0,3}}(?:first|to\s+(?:the\s+)?{_LOW_WORD})\b",
    re.IGNORECASE,
)
_UP_FIRST = re.compile(
    rf"(?:,\s*)?\b(?:the\s+)?{_LOW_WORD}\s+(?:[\w-]+\s+){{0,3}}(?:first|to\s+(?:the\s+)?{_HIGH_WORD})\b",
    re.IGNORECASE,
)
_DECIMALS = rf"(?P<number>\d|{'|'.join(NUMBER_WORDS)})"
_ROUNDED = re.compile(
    rf"\bround(?:ed)?\b[^.;?]{{0,30}}?\bto\s+(?:(?:the\s+)?{_DECIMALS}\s+decimals?\b|"
    r"(?:the\s+nearest\s+|whole\s+)(?P<unit>\w+))",
    re.IGNORECASE,
)
# What is not a whole number of its unit; the last are larger ones.
_UNITS = {"tenth": 1, "hundredth": 2, "cent": 2, "penny": 2, "thousandth": 3} | dict.fromkeys(
    ("ten", "hundred", "thousand", "million"), None
)
_REVERSED = re.compile(r"\brevers", re.IGNORECASE)
# Not words of time or rank, whose first is a small number in some data and a large one in others.
_HIGH = re.compile(
    r"(?<!at )\bmost\b|\b(?:highest|largest|biggest|greatest|maximum|max|longest|tallest|"
    r"heaviest)\b(?! rank)",
    re.IGNORECASE,
)
_LOW = re.compile(
    r"(?<!at )\bleast\b|\b(?:fewest|lowest|smallest|minimum|min|shortest|lightest|cheapest)\b"
    r"(?! rank)",
    re.IGNORECASE,
)
# "The top 5 by sales", if no other word says which end.
_FROM_TOP = re.compile(rf"\btop\s+{_COUNT}\b(?!.*\brank)", re.IGNORECASE)
_FROM_BOTTOM = re.compile(rf"\bbottom\s+{_COUNT}\b(?!.*\brank)", re.IGNORECASE)
_OF_TIME = re.compile(r"\b(?:oldest|earliest|youngest|newest|latest)\b", re.IGNORECASE)
# Asks of data: not "What can you do?", nor "Which ones?". "Show the name" says how to answer.
_ASKS = re.compile(
    r"\b(?:and (?:also )?)?(?:how|what|which|who|whose|where|when)\b"
    r"(?!'s (?:it|up)\b| about\b| ones?$"
    r"|(?: (?:are|can|could|did|do|may|should|will|would))? (?:i|me|you)\b)",
    re.IGNORECASE,
)
# "How many are there and who is the oldest?", "Which checks failed, and who signed them?" Not after
# another "who": "regions that sell and who pay".
_FURTHER = re.compile(
    r"(?<=. )and (?:also )?how (?:many|much)\b|^(?:(?! (?:that|who|whose) ).)+\band (?:also )?who "
    r"(?:(?:is|are|was|were|has|had) the\b|\w+(?:s|ed) [^.;]*\b(?:it|them)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Expectations:
    """What the answer should look like; None, empty and False expect nothing.

    ``columns``: the numbers of columns that fit. ``rows``: the maximal number of rows.
    ``average``: an average. ``share``: a part of a whole, as percent. ``best``: one or few rows at
    one end of an order; ``highest`` says at which end; ``descending`` is the direction of a
    requested order. ``decimals``: figures should be rounded to so many.
    """

    columns: tuple[int, ...] = ()
    rows: int | None = None
    grouped: bool = False
    average: bool = False
    share: bool = False
    best: bool = False
    distinct: bool = False
    negated: bool = False
    descending: bool | None = None
    highest: bool | None = None
    decimals: int | None = None
    parts: int = 1


@lru_cache(maxsize=256)
def read_expectations(question: str) -> Expectations:
    """What the question expects; cached, since every candidate and vote needs it.

    >>> read_expectations("Show the name and age of the 3 youngest singers.").columns
    (2,)
    >>> read_expectations("Show the name and age of the 3 youngest singers.").rows
    3
    >>> read_expectations("Which stadiums have no concert?").negated
    True
    >>> expected = read_expectations("Show each channel and its orders, most orders first.")
    >>> expected.descending, expected.highest, expected.best
    (True, None, False)
    """
    text = " ".join(question.split())
    is_down, is_up = (pattern.search(text) is not None for pattern in (_DOWN_FIRST, _UP_FIRST))
    text = _UP_FIRST.sub("", _DOWN_FIRST.sub("", text))
    columns = count_columns(text)
    grouped = _GROUPED.search(text) is not None
    rows = _read_rows(text)
    best = rows is not None or _ONE_BEST.search(text) is not None
    return Expectations(
        columns=columns,
        rows=rows,
        grouped=grouped and _FIGURE.search(text) is not None,
        average=_AVERAGE.search(text) is not None,
        share=_SHARE.search(text) is not None,
        best=best,
        distinct=_DISTINCT.search(text) is not None,
        negated=_NEGATED.search(text) is not None,
        descending=_find_direction(text, is_down=is_down, is_up=is_up),
        highest=_find_end(text),
        decimals=_read_decimals(text),
        parts=_count_parts(text),
    )


def _count_parts(text: str) -> int:
    """The number of things it asks for: with "and", or in sentences of their own."""
    sentences = [each.strip() for each in text.split("?")]
    pairs = pairwise(sentences)
    apart = sum(bool(_ASKS.search(first) and _ASKS.match(second)) for first, second in pairs)
    # "And how many in Poland?" continues another question.
    return 1 + apart + sum(len(_FURTHER.findall(each)) for each in sentences)


def _find_direction(text: str, *, is_down: bool, is_up: bool) -> bool | None:
    """True if the order asked for is descending, None if nothing, or both, is said."""
    if is_down or is_up:
        return None if is_down and is_up else is_down
    return None if _REVERSED.search(text) else _choose(text, _DOWN, _UP)


def _find_end(text: str) -> bool | None:
    """True for the high end of an order, False for the low end.

    >>> _find_end("the top 5 by sales"), _find_end("the top 5 cheapest"), _find_end("the last 5")
    (True, False, None)
    """
    if _HIGH.search(text) or _LOW.search(text):
        return _choose(text, _HIGH, _LOW)
    if _OF_TIME.search(text):
        return None
    return _choose(text, _FROM_TOP, _FROM_BOTTOM)


def _choose(text: str, yes: re.Pattern[str], no: re.Pattern[str]) -> bool | None:
    """True if only ``yes`` matches, False if only ``no`` does, otherwise None."""
    found = yes.search(text) is not None
    return None if found == (no.search(text) is not None) else found


def _read_rows(text: str) -> int | None:
    """The number in "top 5", "three oldest".

    >>> _read_rows("the top 5 singers"), _read_rows("the three oldest singers"), _read_rows("all")
    (5, 3, None)
    >>> _read_rows("Who are the five employees with the highest salary?")
    5
    """
    if (match := _TOP.search(text)) is None:
        return None
    return read_number(next(filter(None, match.groups())))


def _read_decimals(question: str) -> int | None:
    """The number of decimals to which figures should be rounded; None if it does not say."""
    found = _ROUNDED.search(question)
    if found is None:
        return None
    unit = (found["unit"] or "").lower().removesuffix("s")
    if not unit:
        return read_number(found["number"])
    return _UNITS.get(unit, None if unit.isdigit() else 0)
