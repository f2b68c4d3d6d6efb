"""Reads the content words of a question, with its values or the parameters in their place.

A word keeps what tells its part in the question: "each", "by", "to", and before a value "more than"
or "top". "How many", "number of" and "count" are one item.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from nl2sql.languages.detection import find_language
from nl2sql.languages.english import MONTH_WORDS, NUMBER_WORDS, ORDINAL_WORDS, list_english
from nl2sql.words import STOP_WORDS, split_words
from retrieval.examples.parameters import SLOT, Pattern
from retrieval.values.phrases import GENERIC, fold_text, fold_words

# Function words that say who or when, or what is compared or counted.
_TELLING = frozenset("how many much when where who whose or than at will".split())
_FUNCTION_WORDS = (STOP_WORDS | {"been"}) - _TELLING
# With these a request may begin.
_QUESTIONING = {word.rstrip(",") for word in list_english("questioning")}
_ASKING = (_FUNCTION_WORDS | _QUESTIONING | {"please", "you"}) - (
    _TELLING | set("count sum compare why whom per each every by".split())
)
_MARKS = {"per": "each", "each": "each", "every": "each", "by": "by", "to": "to", "from": "from"}
# Of a value, they say which it is: "more than 5", "top 5".
_BEFORE_VALUES = GENERIC | _TELLING
_PAST = frozenset(("was", "were", "had", "did"))

_MONTH = rf"(?:{'|'.join(MONTH_WORDS)})"
_TOKEN = re.compile(
    rf"{SLOT.pattern}"
    r"|(?P<iso>\b\d{4}-\d\d-\d\d\b)"
    rf"|\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\.?,? (?P<year>\d{{4}})\b"
    rf"|\b(?P<month2>{_MONTH})\.? (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year2>\d{{4}})\b"
    # "1.000" is one or a thousand, so it is no number.
    r"|(?P<number>(?<!\w)-?\d+(?:,\d{3})*(?:\.(?!\d{3}(?!\d))\d+)?(?![\w]|[.,]\d))"
    r"|(?P<quarter>\b[Qq](?=[1-9]\b|:))"
    r"|(?P<word>[^\W_]+)"
    # Signs that may mean something: "> 5 %".
    r"|(?P<sign>[^\w\s.,;:?!&'\"“”\u2018\u2019()\[\]/-])"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_POSSESSIVE = re.compile(r"['\u2019]s?\b")


@dataclass(frozen=True, slots=True)
class Token:
    """``word`` is folded, ``raw`` in lower case; ``slot`` names a parameter.

    ``date``, ``number`` and ``ordinal`` are what it says; a slot has a ``date`` if it may be one.
    """

    word: str
    raw: str = ""
    text: str = ""
    slot: str = ""
    date: str = ""
    number: str = ""
    ordinal: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """A content word or a parameter (``:name``) of a question, or ``#count``.

    ``mark`` is the word before it that tells its part: ``each``, ``by``, ``to``, ``from``, and
    before a value also ``top`` or ``than``.
    """

    word: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The items of a question; ``did`` if it asks with "did"."""

    items: tuple[Item, ...]
    did: bool = False


def read_tokens(text: str) -> list[Token]:
    """The tokens; "third quarter" is written like "Q3"."""
    tokens = [_read_token(match) for match in _TOKEN.finditer(_POSSESSIVE.sub("", text))]
    for at, (one, other) in enumerate(pairwise(tokens)):
        if one.ordinal and other.word == "quarter":
            tokens[at : at + 2] = other, replace(one, word=one.ordinal, number=one.ordinal)
    return tokens


def _read_token(match: re.Match[str]) -> Token:
    text = match.group()
    if slot := match[1] or match[2]:
        return Token("", slot=slot)
    if match["iso"]:
        return Token(text, date=text)
    if day := match["day"] or match["day2"]:
        month = MONTH_WORDS[match["month"] or match["month2"]]
        iso = f"{match['year'] or match['year2']}-{month:02}-{int(day):02}"
        return Token(iso, date=iso)
    if match["number"]:
        number = text.replace(",", "")
        return Token(number, text=text, number=number)
    if match["quarter"]:
        return Token("quarter", "quarter")
    raw = text.lower()
    # The 3 of "Q3" is a number, and the 1 of "A1" none.
    number = raw if raw.isdecimal() else str(NUMBER_WORDS.get(raw, ""))
    found = _ORDINAL.fullmatch(raw)
    ordinal = found[1] if found else str(ORDINAL_WORDS.get(raw, ""))
    word = text if match["sign"] else "".join(fold_words(text))
    return Token(word, raw, text, number=number, ordinal=ordinal)


@lru_cache(maxsize=1 << 12)
def _name_values(pattern: Pattern) -> Mapping[str, frozenset[str]]:
    """What values are called: like the table of their column, or like their parameter."""
    names = {
        name: each.column.split(".")[-2] if each.column else name
        for name, each in pattern.parameters.items()
    }
    # "3" is no quarter.
    return {
        parameter: frozenset(map(fold_text, split_words(name)[-1:])) - {"quarter"}
        for parameter, name in names.items()
    }


@lru_cache(maxsize=1 << 12)
def read_phrasing(phrasing: str, pattern: Pattern) -> Reading:
    """The items of a phrasing of the pattern."""
    tokens = [
        replace(token, date=token.slot)
        if token.slot and pattern.parameters[token.slot].type == "date"
        else token
        for token in read_tokens(phrasing)
    ]
    return read_items(tokens, pattern, find_language(phrasing))


def read_items(tokens: Sequence[Token], pattern: Pattern, language: str) -> Reading:
    """The content words; in another language than English all words."""
    if language != "en":
        return Reading(tuple(Item(_spell(token)) for token in tokens))
    nouns = _name_values(pattern)
    slots = ["", *(token.slot for token in tokens), ""]
    # Without what a value is called: "the Finance department", "the year 2024".
    tokens = [
        token
        for token, before, after in zip(tokens, slots, slots[2:], strict=False)
        if token.word not in nouns.get(before, ()) and token.word not in nouns.get(after, ())
    ]
    raw = [token.raw for token in tokens]
    at = next((at for at, word in enumerate(raw) if word not in _ASKING), len(raw))
    items: list[Item] = []
    mark, is_next = "", False
    while at < len(tokens):
        if counted := _find_count(raw, at, is_first=not items):
            items.append(Item("#count"))
            at, mark, is_next = at + counted, "", False
            continue
        if raw[at : at + 2] == ["how", "much"] or raw[at] in _FUNCTION_WORDS:
            mark = _MARKS.get(raw[at], "" if is_next else mark)
            at, is_next = at + 1 + (raw[at] == "how"), False
            continue
        token = tokens[at]
        # Of a phrase, the last word is marked; a value is none: "per sales channel 2024".
        if is_next and items[-1].word.isalpha() and not (token.slot or token.number):
            items[-1] = Item(items[-1].word, mark and "part")
        elif is_next:
            is_text = token.slot and pattern.parameters[token.slot].type == "text"
            mark = raw[at - 1] if raw[at - 1] in _BEFORE_VALUES and not is_text else ""
        # "By customers" is who did it, "by customer" is for each.
        is_each = mark == "by" and not token.slot and token.word == token.raw
        is_needless = mark == "from" and not token.date
        items.append(Item(_spell(token), "each" if is_each else "" if is_needless else mark))
        at, is_next = at + 1, True
    return Reading(tuple(items), "did" in raw)


def is_past(tokens: Sequence[Token]) -> bool:
    """Whether it asks what was, and does not say when; "were cancelled" says what is now."""
    raw = [token.raw for token in tokens]
    has_time = any(token.date or _YEAR.fullmatch(token.number) for token in tokens)
    return not (has_time or _PAST.isdisjoint(raw) or any(word.endswith("ed") for word in raw))


def _spell(token: Token) -> str:
    return f":{token.slot}" if token.slot else token.number or token.word


def _find_count(raw: Sequence[str], at: int, *, is_first: bool) -> int:
    """How many words from there say that something is counted; 0 if they do not."""
    if raw[at : at + 2] == ["how", "many"]:
        return 2
    skipped = 1 if raw[at] == "total" else 0
    said = list(raw[at + skipped : at + skipped + 2])
    if said in (["number", "of"], ["count", "of"]):
        return 2 + skipped
    return 1 if is_first and raw[at] == "count" else 0
