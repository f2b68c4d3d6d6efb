"""The phrases of a question that could be cell values.

Every run of one to six words, and every quoted text as a whole. A run is not made of words alone
that questions are full of (``many``, ``number``, ``total``): they say what is asked, and not about
which value. Numbers stand only inside longer phrases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nl2sql.words import STOP_WORDS
from retrieval.values.normal_form import fold_text, fold_words

MOST_WORDS = 6

# A text of 4,000 characters would have thousands of runs; a question has some dozens.
_MOST_TOKENS = 120
_SHORTEST = 3

# Lower case, singular: words of asking, counting and comparing, and values that mean "no value".
GENERIC = frozenset(
    "after amount any average avg before between biggest both code column common count current "
    "data date day different earliest entry etc exactly false field find first full get greatest "
    "group high highest id information item key kind large largest last latest least less like "
    "low lowest max maximum min minimum month more most name new next no none null number old "
    "oldest one only order ordered other over per percent percentage please quarter record return "
    "row same second share small smallest some sort sorted sum table three time today top total "
    "true two type under unique unknown up use value week year yes yesterday yet youngest".split()
)

_QUOTED = re.compile(
    r"""(?<!\w)(?:"(?P<a>[^"]{1,200})"|“(?P<b>[^”]{1,200})”|'(?P<c>[^']{1,200})'|"""
    r"""\u2018(?P<d>[^\u2019]{1,200})\u2019|`(?P<e>[^`]{1,200})`)(?!\w)"""
)
_TOKEN = re.compile(r"[^\W_]+(?:['\u2019]s\b)?")


@dataclass(frozen=True, slots=True)
class Phrase:
    """``text`` as the question writes it, ``folded`` as it is looked up.

    ``start`` and ``end`` are where it stands in the question, in characters. ``quoted`` means that
    the asker marked it, so that nothing is too short or too common. ``exact_case`` means that only
    a value written just so is meant: ``US`` is not "us".
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
        """Whether it is written with a capital that no sentence gave it."""
        return self.start > 0 and self.text[0].isupper()

    @property
    def words(self) -> int:
        """How many words it has."""
        return self.folded.count(" ") + 1


def find_phrases(question: str) -> list[Phrase]:
    """All phrases worth looking up, in the order in which they begin.

    >>> [phrase.text for phrase in find_phrases("Customers of New York?")]
    ['Customers', 'Customers of', 'Customers of New', 'Customers of New York', 'of New York', \
'New York', 'York']
    """
    found = [
        Phrase(text, folded, match.start(), match.end(), quoted=True)
        for match in _QUOTED.finditer(question)
        if (text := next(group for group in match.groups() if group is not None).strip())
        and (folded := fold_text(text))
    ]
    tokens = list(_TOKEN.finditer(question))[:_MOST_TOKENS]
    words = [(fold_words(token.group()) or [""])[0] for token in tokens]
    stops = [word in STOP_WORDS for word in words]
    telling = [
        not (stop or word in GENERIC or word.isdigit())
        for word, stop in zip(words, stops, strict=True)
    ]
    may_be_code = question.upper() != question
    for first, token in enumerate(tokens):
        start = token.start()
        if may_be_code and first and _is_code(token.group()):
            text = token.group()
            found.append(Phrase(text, words[first], start, token.end(), exact_case=True))
        tells = has_stop = False
        for last in range(first, min(first + MOST_WORDS, len(tokens))):
            tells = tells or telling[last]
            has_stop = has_stop or stops[last]
            folded = " ".join(words[first : last + 1])
            if tells and len(folded) >= _SHORTEST:
                end = tokens[last].end()
                text = question[start:end]
                found.append(Phrase(text, folded, start, end, exact_only=has_stop))
    return sorted(found, key=lambda phrase: (phrase.start, phrase.end))


def _is_code(text: str) -> bool:
    """One or two capitals, or a function word in capitals: "sex F", "US", "IT"."""
    if not text.isupper() or text in ("A", "I"):
        return False
    return len(text) < _SHORTEST or text.lower() in STOP_WORDS
