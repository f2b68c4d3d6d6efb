"""Splits names and questions into words, the same way for every ranking.

>>> split_words("cust_no"), split_words("OrderLineTotals"), split_words("StraßeÜbersicht 2")
(['cust', 'no'], ['order', 'line', 'total'], ['strasse', 'ubersicht', '2'])
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from nl2sql.languages import load_lexicon

_RUN = re.compile(r"[^\W\d_]+|\d+")
# The s of "IDs", which is no word and hides the one before it.
_PLURAL_OF_CAPITALS = re.compile(r"(?<=[A-Z][A-Z])s(?![A-Za-z])")
_ASCII_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Written without spaces: each character is a word (CJK Unified Ideographs and kana).
_IDEOGRAPHS = ("\u3040", "\u9fff")

_APOSTROPHES = re.compile("[-'\u2019\u2018`\u00b4\u2010-\u2015]")
_MARKS = re.compile(r"[^\w\s.]|\.(?!\w)|(?<!\w)\.")

# What asks for an order of the rows, and names no order of a customer.
_SORTING = re.compile(
    r"\b(?:(?:a|de)scending|(?:in|de)creasing|(?:alphabet|chronolog|lexicograph|numer)ic(?:al)?"
    r"|reversed?) order\b|\bin order (?:of|to|by)\b|\border (?:(?:it|them|the \w+) )?by\b",
    re.IGNORECASE,
)

# Function words of questions: comments contain them too, so long comments would rank higher.
STOP_WORDS = frozenset(load_lexicon()["stop"]["en"].split())


def split_words(text: str) -> list[str]:
    """Lower-case words of a name or sentence, accents dropped, plurals folded.

    >>> split_words("Orders by Größe"), split_words("訂單")
    (['order', 'by', 'grosse'], ['訂', '單'])
    >>> split_words("customer IDs"), split_words("IDs und Größe")
    (['customer', 'id'], ['id', 'und', 'grosse'])
    """
    text = _PLURAL_OF_CAPITALS.sub("", text)
    if text.isascii():
        return [fold_plural(word.lower()) for word in _ASCII_WORD.findall(text)]
    plain = unicodedata.normalize("NFKC", text)
    return [
        fold_plural(drop_accents(word.casefold()) or word)
        for run in _RUN.findall(plain)
        for word in _cut(run)
    ]


def drop_sorting(text: str) -> str:
    """The text without the words "in descending order", "in order of", "order by".

    >>> drop_sorting("Customers in descending order"), drop_sorting("products in each order")
    ('Customers in ', 'products in each order')
    """
    return _SORTING.sub("", text)


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


def fold_text(text: str) -> str:
    """The text in lower case, without accents and punctuation; names keep their dots.

    >>> fold_text("Qu'y a-t-il dans « hr.Employees » ?")
    'qu y a t il dans hr.employees'
    """
    plain = drop_accents(text.casefold())
    return " ".join(_MARKS.sub(" ", _APOSTROPHES.sub(" ", plain)).split())


def drop_accents(text: str) -> str:
    """The text without accents, and with compatibility characters replaced.

    >>> drop_accents("Müller ﬁn")
    'Muller fin'
    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def count(number: int, kind: str) -> str:
    """A number of things.

    >>> count(1, "table"), count(1200, "column")
    ('1 table', '1,200 columns')
    """
    return f"{number:,} {kind if number == 1 else f'{kind}s'}"


def _cut(run: str) -> Iterator[str]:
    """Splits a run of letters where the case changes and around ideographs."""
    start = 0
    for at, (left, right) in enumerate(pairwise(run), start=1):
        follower = run[at + 1 : at + 2]
        if (
            (left.islower() and right.isupper())
            or (left.isupper() and right.isupper() and follower.islower())
            or _is_ideograph(left)
            or _is_ideograph(right)
        ):
            yield run[start:at]
            start = at
    yield run[start:]


def _is_ideograph(sign: str) -> bool:
    return _IDEOGRAPHS[0] <= sign <= _IDEOGRAPHS[1]
