"""Checks a model's text about a result: it may only use words of the rows, question and columns.

A cell may contain instructions to the model, which must not get into the answer. Therefore only a
closed set is allowed: whole cells in quotation marks, names of columns, words of the question, and
a list of plain words; numbers must come from the rows and be written in digits. The list has no
negations, because "there is no …" could be wrong without any number.

Not covered: whether a number belongs to the name that it is said of.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Set
from decimal import Context, Decimal, InvalidOperation

from generation.conversation.answer_sentence import is_sayable
from nl2sql.languages.english import NUMBER_WORDS, list_english
from nl2sql.results.json_values import to_json_value
from nl2sql.types import ResultSet
from nl2sql.words import split_words

MOST_CHARS = 400
_PLAIN = list_english("plain")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_ADDRESS = re.compile(r"(?:\b\w+://|\bwww\.)\S+", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_QUOTED = re.compile(r"“[^“”]*”")
_NUMBER = re.compile(
    r"[-−]?(?:\d{1,3}(?:[,\u00a0\u202f' ]\d{3})+(?!\d)|\d+)(?:\.(?P<decimals>\d+))?"  # noqa: RUF001
)
_MARKS_IN_NUMBERS = re.compile(r"[,\u00a0\u202f' ]")
_GLUED = re.compile(r"\d[^\W\d_]")
# Words of numbers, which are not compared with the rows.
_NUMBER_WORDS = NUMBER_WORDS.keys() | set(
    "dozen once twice double triple hundred thousand million billion k m bn".split()
)
# Larger values are not rounded. A text may say any number of decimals.
_MOST_ROUNDED = 10**15
_EXACT = Context(prec=MOST_CHARS + 15)


def clean_text(text: str) -> str:
    """The first paragraph without markup, links and code, truncated at the end of a sentence.

    >>> clean_text("**See** [this](http://x.y) <b>now</b>: www.a.b `x`\\n\\nMore")
    'See this now: x'
    """
    text = text.strip().partition("```")[0]
    text = text.partition("\n\n")[0]
    text = _LINK.sub(r"\1", _TAG.sub("", text))
    text = _ADDRESS.sub("", text)
    text = re.sub(r"[*`#<>|\\{}]", "", text)
    text = "".join(sign if sign.isprintable() else " " for sign in text)
    text = " ".join(text.split()).removeprefix("Answer:").strip()
    if len(text) <= MOST_CHARS:
        return text
    sentences = _SENTENCE_END.split(text[:MOST_CHARS])
    return " ".join(sentences[:-1])


def check_text(text: str, question: str, result: ResultSet) -> str:
    """The text with its cells in quotation marks; empty if it uses words that are not allowed.

    >>> rows = ResultSet(("name", "n"), ("text", "int"), (("Ann Lee", 3), ("Bo", 4)), False, 1.0)
    >>> check_text("Ann Lee has 3 orders, Bo has 4.", "How many orders has each?", rows)
    '“Ann Lee” has 3 orders, “Bo” has 4.'
    >>> check_text("Ann Lee has 42 orders.", "How many orders has each?", rows)
    ''
    """
    quoted = quote_cells(text.translate({ord(sign): None for sign in "“”"}), result)
    own = _QUOTED.sub(lambda match: " " * len(match[0]), quoted)
    if own == quoted and not _NUMBER.search(own):
        return ""  # It mentions nothing from the rows.
    values = set(_list_values(result))
    if _GLUED.search(own) or not all(
        _is_held(number, values) or _is_asked(number, question) for number in _NUMBER.finditer(own)
    ):
        return ""
    rest = _NUMBER.sub(" ", own)
    known = set(split_words(question)) | _PLAIN
    for name in result.columns:
        known.update(split_words(name))
    known -= _NUMBER_WORDS
    return quoted if all(_is_among(word, known) for word in split_words(rest)) else ""


def quote_cells(text: str, result: ResultSet) -> str:
    """Puts texts, dates and times of cells in quotation marks, the longest first."""
    cells = {
        said
        for row in result.rows
        for cell in row
        if isinstance(cell, str | dt.date | dt.time | dt.timedelta)
        and is_sayable(said := str(to_json_value(cell)).strip())
        and not _is_numeric(said)
    }
    held = sorted((cell for cell in cells if cell in text), key=lambda cell: (-len(cell), cell))
    if not held:
        return text
    found = re.compile(r"[\"']?(?<!\w)(" + "|".join(map(re.escape, held)) + r")(?!\w)[\"']?")
    return found.sub(r"“\1”", text)


def _is_held(number: re.Match[str], values: Set[Decimal]) -> bool:
    """Whether the number is one of the values, perhaps rounded to its decimals."""
    digits = _MARKS_IN_NUMBERS.sub("", number[0]).lstrip("-−")  # noqa: RUF001
    value = Decimal(digits)
    return value in values or any(
        each < _MOST_ROUNDED and each.quantize(value, context=_EXACT) == value
        for each in (values if number["decimals"] else ())
    )


def _is_asked(number: re.Match[str], question: str) -> bool:
    """Whether it is in the question too, after the same word: "in 2024", "top 5"."""
    before = split_words(number.string[: number.start()])[-1:]
    asked = question.lower()
    return bool(before) and any(
        split_words(asked[: match.start()])[-1:] == before
        for match in re.finditer(rf"(?<![\w.,]){re.escape(number[0])}(?![\w%])", asked)
    )


def _list_values(result: ResultSet) -> Iterator[Decimal]:
    """The numbers in the cells, without signs, and that of the rows if they are complete."""
    if not result.truncated:
        yield Decimal(len(result.rows))
    for row in result.rows:
        for cell in row:
            is_number = isinstance(cell, int | float | Decimal) and not isinstance(cell, bool)
            if is_number or (isinstance(cell, str) and _is_numeric(cell)):
                value = abs(Decimal(str(cell).strip()))
                if value.is_finite():
                    yield value


def _is_numeric(text: str) -> bool:
    if len(text) > 40 or not re.fullmatch(r"\s*-?\d+(?:\.\d+)?\s*", text):
        return False
    try:
        return Decimal(text.strip()).is_finite()
    except InvalidOperation:
        return False


def _is_among(word: str, known: set[str]) -> bool:
    """Whether the word is known, or another form of a known word: ordered, orders."""
    if word in known:
        return True
    if not word.isalpha() or len(word) < 5:
        return len(word) == 1 and word == "s"
    return any(len(other) >= 5 and other[:5] == word[:5] for other in known)
