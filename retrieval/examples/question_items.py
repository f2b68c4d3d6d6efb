"""Reads the content words of a question in their order, with its values or parameters apart.

A word or value keeps what tells its part in the question: "each", "by", "to", "from", and a value
also "more than" or "top". "How many", "number of" and "count" are one word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nl2sql.languages.detection import find_language
from nl2sql.languages.english import MONTH_WORDS, NUMBER_WORDS, ORDINAL_WORDS, list_english
from nl2sql.words import STOP_WORDS
from retrieval.examples.parameters import SLOT
from retrieval.values.phrases import GENERIC, fold_words

# Function words that say who or when, or what is compared or counted.
_TELLING = frozenset("how many much when where who whose or than at will as".split())
_FUNCTION_WORDS = (STOP_WORDS | {"been"}) - _TELLING
# With these a request may begin.
_QUESTIONING = {word.rstrip(",") for word in list_english("questioning")}
_ASKING = (_FUNCTION_WORDS | _QUESTIONING | {"please", "you"}) - (
    _TELLING | set("count sum compare why whom per each every by".split())
)
_MARKS = {"per": "each", "each": "each", "every": "each", "by": "by", "to": "to", "from": "from"}
# Of a value, they say which it is: "more than 5", "top 5".
_BEFORE_VALUES = GENERIC | _TELLING
_COUNTING = re.compile(r"how many\b|(?:total )?(?:number|count) of\b")

_MONTH = rf"(?P<month>{'|'.join(MONTH_WORDS)})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES = (
    re.compile(rf"\b{_DAY}(?: of)? {_MONTH},? (?P<year>\d{{4}})\b"),
    re.compile(rf"\b{_MONTH} {_DAY},? (?P<year>\d{{4}})\b"),
)
_ORDINAL_QUARTER = re.compile(
    rf"\b(?:(\d)(?:st|nd|rd|th)|({'|'.join(ORDINAL_WORDS)})) quarter\b", re.IGNORECASE
)
_QUARTER = re.compile(r"\b[Qq](?=[1-9]\b|:)")
# The code, the sign and the name of a currency are one word: "€500" is "500 euros".
_CURRENCIES = {"eur": "euro", "€": "euro", "usd": "dollar", "$": "dollar"}
_CURRENCIES |= {"gbp": "pound", "£": "pound"}
_SIGN_FIRST = re.compile(r"([€$£]) ?([0-9](?:[0-9.,]*[0-9])?)")
_PAST = frozenset(("was", "were", "had", "did"))
_YEAR = re.compile(r"(?:19|20)\d\d")
_POSSESSIVE = re.compile(r"['\u2019]s?\b")
_TOKEN = re.compile(
    rf"{SLOT.pattern}"
    r"|(?P<date>\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b)"
    # "1.000" is one or a thousand, so it is no number.
    r"|(?P<number>(?<!\w)-?[0-9]+(?:,[0-9]{3})*(?:\.(?!\d{3}(?!\d))[0-9]+)?(?![\w]|[.,]\d))"
    r"|(?P<word>[^\W_]+)"
    # Signs that may mean something: "> 5 %".
    r"|(?P<sign>[^\w\s.,;:?!&'\"“”\u2018\u2019()\[\]/-])"
)


@dataclass(frozen=True, slots=True)
class QuestionToken:
    """``text`` as it is written, ``word`` folded; ``slot`` names a parameter.

    ``date`` and ``number`` are what it says, if it says one.
    """

    text: str = ""
    word: str = ""
    slot: str = ""
    date: str = ""
    number: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A question or phrasing. ``is_past``: it asks what was, and does not say when."""

    tokens: tuple[QuestionToken, ...]
    language: str
    is_past: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """The content words of a question in their order, and its parameters in any.

    Each parameter is a name with the word before it that tells its part, and, if there are several
    texts, the number of words before it: "paid orders with open invoices" are not "open orders with
    paid invoices". ``did``: it asks with "did".
    """

    words: tuple[str, ...]
    slots: frozenset[tuple[str, str, int]] = frozenset()
    did: bool = False


# A question is compared with many phrasings, and a phrasing with many questions.
@lru_cache(maxsize=1 << 13)
def read_text(text: str) -> Text:
    """Its tokens; "third quarter" and "Q3" are two, and dates with names of months are one."""
    language = find_language(text)
    text = _POSSESSIVE.sub("", text)
    for dates in _DATES:
        text = dates.sub(_write_date, text)
    text = _ORDINAL_QUARTER.sub(
        lambda match: f"quarter {match[1] or ORDINAL_WORDS[match[2].lower()]}", text
    )
    text = _QUARTER.sub("quarter ", _SIGN_FIRST.sub(r"\2 \1", text))
    tokens = tuple(_read_token(match) for match in _TOKEN.finditer(text))
    return Text(tokens, language, _is_past(tokens))


def _is_past(tokens: Sequence[QuestionToken]) -> bool:
    """As "who was"; "were cancelled" says what is now."""
    raw = [token.text.lower() for token in tokens]
    has_time = any(token.date or _YEAR.fullmatch(token.number) for token in tokens)
    return not (has_time or _PAST.isdisjoint(raw) or any(word.endswith("ed") for word in raw))


def _write_date(match: re.Match[str]) -> str:
    return f"{match['year']}-{MONTH_WORDS[match['month']]:02}-{int(match['day']):02}"


def _read_token(match: re.Match[str]) -> QuestionToken:
    text = match.group()
    if slot := match[1]:
        return QuestionToken(slot=slot)
    if match["date"]:
        return QuestionToken(text, text, date=text)
    if match["number"]:
        number = text.replace(",", "")
        return QuestionToken(text, number, number=number)
    word = text if match["sign"] else "".join(fold_words(text))
    # The 3 of "Q3" is a number, and the 1 of "A1" none.
    is_number = text.isascii() and text.isdecimal()
    number = text if is_number else str(NUMBER_WORDS.get(text.lower(), ""))
    return QuestionToken(text, _CURRENCIES.get(word, word), number=number)


@lru_cache(maxsize=1 << 12)
def read_phrasing(phrasing: str, texts: frozenset[str]) -> Reading:
    """The items of a phrasing; ``texts`` are its parameters that are texts."""
    read = read_text(phrasing)
    return read_items(read.tokens, texts, read.language)


def read_items(tokens: Sequence[QuestionToken], texts: Collection[str], language: str) -> Reading:
    """The content words; in another language than English all words and parameters."""
    if language != "en":
        return Reading(tuple(f":{token.slot}" if token.slot else token.word for token in tokens))
    raw = [token.text.lower() for token in tokens]
    at = next((at for at, word in enumerate(raw) if word not in _ASKING), len(raw))
    words: list[str] = []
    slots: list[tuple[str, str, int]] = []
    mark = ""
    while at < len(tokens):
        token = tokens[at]
        counted = _COUNTING.match(" ".join(raw[at : at + 3]))
        if counted or (raw[at] == "count" and not words):
            words.append("#count")
            at, mark = at + (len(counted[0].split()) if counted else 1), ""
            continue
        # "2022 on" and "2022 and on" are not 2022.
        follows = at and (raw[at - 1] == "and" or _is_number(tokens[at - 1], texts))
        if raw[at] in _FUNCTION_WORDS and not (follows and raw[at] == "on"):
            at, mark = at + 1, _MARKS.get(raw[at], mark)
            continue
        if token.slot:
            before = tokens[at - 1].word if at and _is_number(token, texts) else ""
            if before in _BEFORE_VALUES and words[-1:] == [before]:
                mark = words.pop()
            is_placed = len(texts) > 1 and token.slot in texts
            slots.append((token.slot, mark, len(words) if is_placed else 0))
        else:
            # "By customers" is who did it, "by customer" is for each.
            is_each = mark == "by" and token.word == raw[at]
            words += filter(None, ("each" if is_each else mark, token.number or token.word))
        at, mark = at + 1, ""
    return Reading(tuple(words), frozenset(slots), "did" in raw)


def _is_number(token: QuestionToken, texts: Collection[str]) -> bool:
    """Whether it is a number or a date, or a parameter that is one."""
    return bool(token.date or token.number or (token.slot and token.slot not in texts))
