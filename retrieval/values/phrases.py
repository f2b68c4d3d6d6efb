"""Finds the phrases of a question that could be cell values, and folds words for comparison.

Phrases are all runs of one to six words, and every quoted text. Runs that consist only of typical
words of questions (``many``, ``number``, ``total``) or of numbers are left out. For comparison,
case, accents, punctuation and plurals do not count. Languages without spaces between words
(Chinese, Japanese, Thai) are not segmented: a run of letters is one word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nl2sql.languages.detection import list_stop_words
from nl2sql.languages.english import list_english
from nl2sql.words import STOP_WORDS, drop_accents, fold_plural

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['\u2019]s\b")


def fold_words(text: str) -> list[str]:
    """The folded words of a value or phrase.

    >>> fold_words("  São-Paulo's OFFICES ")
    ['sao', 'paulo', 'office']
    """
    folded = drop_accents(text.casefold())
    return [fold_word(word) for word in _WORD.findall(_POSSESSIVE.sub("", folded))]


def fold_word(word: str) -> str:
    """The singular of a lower-case word, or another text that is equal for its forms.

    >>> [fold_word(word) for word in ("movie", "movies", "cities", "tie")]
    ['movy', 'movy', 'city', 'tie']
    """
    singular = fold_plural(word)
    return singular[:-2] + "y" if len(singular) > 4 and singular.endswith("ie") else singular


def fold_text(text: str) -> str:
    """``fold_words`` as one text, equal for all spellings of the same words.

    >>> fold_text("United_States") == fold_text("united state")
    True
    """
    return " ".join(fold_words(text))


MOST_WORDS = 6

# Limits the number of runs: a text of 4,000 characters would have thousands.
_MOST_TOKENS = 120
_SHORTEST = 3

# Lower case, singular: words of asking, counting and comparing, and values that mean "no value".
GENERIC = list_english("generic")

_QUOTED = re.compile(
    r"""(?<!\w)(?:"(?P<a>[^"]{1,200})"|“(?P<b>[^”]{1,200})”|'(?P<c>[^']{1,200})'|"""
    r"""\u2018(?P<d>[^\u2019]{1,200})\u2019|`(?P<e>[^`]{1,200})`)(?!\w)"""
)
_TOKEN = re.compile(r"[^\W_]+(?:['\u2019]s\b)?")


@dataclass(frozen=True, slots=True)
class ValuePhrase:
    """A phrase: ``text`` as in the question, ``folded`` for the lookup.

    ``start`` and ``end`` are its position in the question, in characters. A ``quoted`` phrase is
    never too short or too common. ``exact_case``: only a value with equal case matches (``US`` is
    not "us"). ``exact_only``: no similar values are searched.
    """

    text: str
    folded: str
    start: int
    end: int
    quoted: bool = False
    exact_case: bool = False
    exact_only: bool = False

    @property
    def is_name(self) -> bool:
        """Whether it is capitalised, not at the start of the question."""
        return self.start > 0 and self.text[0].isupper()

    @property
    def words(self) -> int:
        """The number of words."""
        return self.folded.count(" ") + 1


def find_phrases(question: str) -> list[ValuePhrase]:
    """All phrases to look up, in the order of their beginnings.

    >>> [phrase.text for phrase in find_phrases("Customers of New York?")]
    ['Customers', 'Customers of', 'Customers of New', 'Customers of New York', 'of New York', \
'New York', 'York']
    """
    found = [
        ValuePhrase(text, folded, match.start(), match.end(), quoted=True)
        for match in _QUOTED.finditer(question)
        if (text := next(group for group in match.groups() if group is not None).strip())
        and (folded := fold_text(text))
    ]
    tokens = list(_TOKEN.finditer(question))[:_MOST_TOKENS]
    words = [(fold_words(token.group()) or [""])[0] for token in tokens]
    function_words = list_stop_words(question)
    stops = [word in function_words for word in words]
    specific = [
        not (stop or word in GENERIC or word.isdigit())
        for word, stop in zip(words, stops, strict=True)
    ]
    may_be_code = question.upper() != question
    for first, token in enumerate(tokens):
        start = token.start()
        if may_be_code and first and _is_code(token.group()):
            text = token.group()
            found.append(ValuePhrase(text, words[first], start, token.end(), exact_case=True))
        is_specific = has_stop = False
        for last in range(first, min(first + MOST_WORDS, len(tokens))):
            is_specific = is_specific or specific[last]
            has_stop = has_stop or stops[last]
            folded = " ".join(words[first : last + 1])
            if is_specific and len(folded) >= _SHORTEST:
                end = tokens[last].end()
                text = question[start:end]
                found.append(ValuePhrase(text, folded, start, end, exact_only=has_stop))
    return sorted(found, key=lambda phrase: (phrase.start, phrase.end))


def _is_code(text: str) -> bool:
    """One or two capitals, or a function word in capitals: "sex F", "US", "IT"."""
    if not text.isupper() or text in ("A", "I"):
        return False
    return len(text) < _SHORTEST or text.lower() in STOP_WORDS
