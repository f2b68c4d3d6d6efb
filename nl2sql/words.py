"""How names and questions are cut into words, the same way for every ranking.

>>> split_words("cust_no"), split_words("OrderLineTotals")
(['cust', 'no'], ['order', 'line', 'total'])
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

# Function words of questions: they stand in comments too, and would rank by length of prose.
STOP_WORDS = frozenset(
    "a all an and are as at be by did do does each every for from give had has have how i in is it "
    "its list many me much of on or our per show tell than that the their them there these they "
    "this to was we were what when where which who whose will with".split()
)


def split_words(text: str) -> list[str]:
    """Lower-case words of a name or sentence, plurals folded (``orders`` → ``order``)."""
    return [fold_plural(word.lower()) for word in _WORD.findall(text)]


def content_words(text: str) -> list[str]:
    """``split_words`` without function words.

    >>> content_words("How many orders were cancelled?")
    ['order', 'cancelled']
    """
    return [word for word in split_words(text) if word not in STOP_WORDS]


def fold_plural(word: str) -> str:
    """The singular of a regular English plural; other words come back unchanged.

    >>> [fold_plural(word) for word in ("orders", "companies", "boxes", "address", "status")]
    ['order', 'company', 'box', 'address', 'status']
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
