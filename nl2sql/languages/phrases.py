"""Says in English what a question in another language contains, by phrases (``lexicon.yaml``).

Schemas are mostly in English, and so are the embedder and the rules that read a question. Search,
linking, hints and score therefore read these phrases: words of business, numbers, limits,
comparisons, periods and months. The model gets the question as it was asked. Not covered:
negations, and which columns are asked for; nothing is concluded from what is not recognised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise

from nl2sql.languages import Language, load_lexicon
from nl2sql.languages.detection import find_language
from nl2sql.words import fold_plural, fold_text

# Written without spaces between the words, or in compounds: a stem may stand anywhere.
_ANYWHERE: frozenset[Language] = frozenset({"de", "zh", "ja", "ar"})
# Arabic writes "and", "in", "for" and the article as beginnings of the word.
_BEFORE: Mapping[Language, str] = {"zh": "", "ja": "", "ar": r"(?<!\w)(?:[وفبلك]|لل)?(?:ال)?"}
_AFTER: Mapping[Language, str] = {"zh": "", "ja": ""}
# What may stand between the words of a period.
_LINKS = frozenset(("", "de", "des", "del", "do", "di", "个", "の", "من"))
_COMPARING = frozenset(
    ("more than", "less than", "at least", "at most", "or more", "or less", "since", "after")
) | {"before"}
_PERIOD = ("which", "unit", "numbers")
# A limit and its superlative are at most so many characters apart.
_NEAR = 60
_MOST_ROWS = 1000
_DIGITS = r"\d{1,3}(?:[. ]\d{3})+(?!\d)|\d+"


@dataclass(frozen=True, slots=True)
class Phrase:
    """``english`` for the words ``said``, as ``fold_text`` leaves them.

    ``start`` and ``end`` are their place in the folded question. ``kind`` is the section of the
    lexicon, ``numbers`` for digits too, or ``period`` for "last three months".
    """

    english: str
    said: str
    start: int
    end: int
    kind: str


def say_in_english(text: str) -> str:
    """The phrases in the order of the question, "how many" first; empty for one in English.

    >>> say_in_english("Wie viele Kundenaufträge wurden letztes Jahr storniert?")
    'how many customer order last year cancelled'
    >>> say_in_english("¿Cuáles son los tres productos más caros?")
    'top three product the most expensive,'
    >>> say_in_english("How many customers?")
    ''
    """
    phrases = sorted(read_phrases(text), key=lambda phrase: phrase.english != "how many")
    return " ".join(phrase.english for phrase in phrases)


@lru_cache(maxsize=1 << 10)
def read_phrases(text: str) -> tuple[Phrase, ...]:
    """The phrases in the order of the question; empty for a question in English."""
    language = find_language(text)
    if language == "en":
        return ()
    plain = f" {fold_text(text)} "
    asking, meant = _load_asking(language)
    found = []
    for match in asking.finditer(plain):
        english, kind = meant.get(match[1]) or (re.sub(r"[. ]", "", match[1]), "numbers")
        found.append(Phrase(english, match[1], match.start(1), match.end(1), kind))
    found = _join_limits(_join_orders(_join_periods(found, plain)))
    known = {
        fold_plural(word)
        for phrase in found
        if phrase.kind == "period"
        for word in phrase.english.split()
    }
    for start, english, stem in sorted(_find_business(language, plain)):
        # A word that was said already is not said again.
        if new := [word for word in english.split() if word not in known]:
            known.update(new)
            found.append(Phrase(" ".join(new), stem, start, start + len(stem), "business"))
    # Digits are read in any language: an English question may hold a foreign name.
    if all(phrase.english.isdigit() for phrase in found):
        return ()
    return tuple(sorted(found, key=lambda phrase: phrase.start))


def _find_business(language: Language, plain: str) -> Iterator[tuple[int, str, str]]:
    """The first place of each word of business: the place, the English, and the stem."""
    before = "" if language in _ANYWHERE else " "
    for english, stems in _load_business(language):
        places = [(plain.find(before + stem), stem) for stem in stems]
        if held := [place for place in places if place[0] >= 0]:
            start, stem = min(held)
            yield start + len(before), english, stem


def _join_periods(found: Sequence[Phrase], plain: str) -> list[Phrase]:
    """Joins "last", a number and a unit that stand together, in any order; drops lone ones."""
    joined: list[Phrase] = []
    at = 0
    while at < len(found):
        for width in (3, 2):
            parts = found[at : at + width]
            of = {part.kind: part.english for part in parts}
            if of.keys() == set(_PERIOD[:width]) and all(
                plain[one.end : other.start].strip() in _LINKS for one, other in pairwise(parts)
            ):
                start, end = parts[0].start, parts[-1].end
                count = f"{of['numbers']} " if width == 3 else ""
                english = f"{of['which']} {count}{of['unit']}{'s' if count else ''}"
                joined.append(Phrase(english, plain[start:end], start, end, "period"))
                at += width
                break
        else:
            if found[at].kind not in ("which", "unit"):
                joined.append(found[at])
            at += 1
    return joined


def _join_orders(found: Sequence[Phrase]) -> list[Phrase]:
    """Joins a superlative and "first": "the highest first" is the order of all rows."""
    firsts = [phrase for phrase in found if phrase.english == "first"]
    joined = [phrase for phrase in found if phrase.english != "first"]
    for first in firsts:
        if (best := _find_nearest(first, joined)) is not None:
            at = joined.index(best)
            joined[at] = replace(best, english=f"{best.english.rstrip(',')} first,", kind="order")
    return joined


def _join_limits(found: Sequence[Phrase]) -> list[Phrase]:
    """Makes the number beside a superlative a limit: "top three"."""
    joined = list(found)
    for before, phrase, after in zip((None, *found), found, (*found[1:], None), strict=False):
        if phrase.kind != "numbers" or _is_large(phrase.english):
            continue
        if any(other and other.english in _COMPARING for other in (before, after)):
            continue
        best = _find_nearest(phrase, joined)
        if best is not None:
            joined[joined.index(phrase)] = replace(
                phrase, english=f"top {phrase.english}", kind="limit"
            )
            break
    return [phrase for phrase in joined if phrase.english != "top"]


def _is_large(number: str) -> bool:
    # Python reads no numbers of thousands of digits.
    return number.isdigit() and (len(number) > 4 or not 0 < int(number) <= _MOST_ROWS)


def _find_nearest(phrase: Phrase, others: Iterable[Phrase]) -> Phrase | None:
    """The superlative that is nearest, and near."""
    far = [
        (max(phrase.start - other.end, other.start - phrase.end), other.start, other)
        for other in others
        if other.kind == "best"
    ]
    return min(far)[2] if far and min(far)[0] <= _NEAR else None


@cache
def _load_business(language: Language) -> Sequence[tuple[str, tuple[str, ...]]]:
    return tuple(
        (english, _split(said[language])) for english, said in load_lexicon()["business"].items()
    )


@cache
def _load_asking(language: Language) -> tuple[re.Pattern[str], Mapping[str, tuple[str, str]]]:
    """A pattern that finds the longest words of asking, and what each means, with its kind."""
    meant: dict[str, tuple[str, str]] = {}
    for kind in ("numbers", "months", "which", "unit", "best", "asking"):
        for key, said in load_lexicon()[kind].items():
            english = said["en"].split(",")[0] if "en" in said else key
            if kind == "best" and english not in ("top", "first"):
                english += ","  # Not "the highest first name".
            for word in _split(said.get(language, "")):
                meant[word] = (english, kind)
    longest = sorted(meant, key=len, reverse=True)
    before, after = _BEFORE.get(language, r"(?<!\w)"), _AFTER.get(language, r"(?!\w)")
    words = "|".join(map(re.escape, longest))
    return re.compile(f"{before}({words}|{_DIGITS}){after}"), meant


def _split(words: str) -> tuple[str, ...]:
    return tuple(filter(None, (fold_text(word) for word in words.split(","))))
