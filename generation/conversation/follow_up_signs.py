"""Recognises questions that depend on earlier ones, by their words, in nine languages.

Other questions need no call of the model and are never rewritten. Measured on 7,447 independent
questions and on follow-ups: docs/lab/retrieval.md.
"""

from __future__ import annotations

import re

from nl2sql.languages import Language, load_lexicon
from nl2sql.languages.detection import find_language
from nl2sql.languages.english import list_english
from nl2sql.words import STOP_WORDS, fold_text

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
# Beginnings of follow-ups.
_START = re.compile(
    r"(?:and|but|or|so|then|also|now|instead|only|just|without|except|exclud\w+|includ\w+|same|"
    r"(?:what|how) about|what if|(?:what|who|anything) else|(?:the )?(?:others?|rest|remaining|"
    r"next|previous)|again|more|no,|not|ok(?:ay)?|yes|(?:sort|order|group|rank|filter|limit|break)"
    r"(?:ed)? (?:by|it|them|those|these|this|that|to)|how (?:many|much) (?:in|for|from|at|on|by|"
    r"with|after|before|are|were)|(?:show|give|list)(?: me)? (?:more|all|everything|the rest)\W*$)"
    r"\b|why\W*$",
    re.IGNORECASE,
)
# References to an earlier question anywhere in a short one.
_BACKWARD = re.compile(
    r"\b(?:the same (?:but|for|in|with|by|as|question|query|thing)|as (?:before|above)|"
    r"of (?:those|these|them)|(?:those|these|that|first|last|second|third|which) ones?|instead|"
    r"too|as well)\b",
    re.IGNORECASE,
)
_PRONOUNS = list_english("pronouns")
# "this year", "those who" and "those employees whose" do not refer to an earlier question.
_TIMES = frozenset((*load_lexicon()["unit"], "morning", "decade", "century"))
_RELATIVE = list_english("relative")
_PREPOSITIONS = list_english("prepositions")
_QUESTION_WORDS = list_english("questioning")
_FRAGMENT_WORDS = 3
_SHORT_WORDS = 8
# Chinese and Japanese, where a word is a sign or two.
_FRAGMENT_SIGNS = 8
_NO_SPACES: frozenset[Language] = frozenset({"zh", "ja"})


def depends_on_context(text: str) -> bool:
    """True for a fragment, a connecting beginning, or a pronoun without an antecedent.

    >>> [depends_on_context(text) for text in ("And last year?", "in Germany", "Who are they?")]
    [True, True, True]
    >>> [depends_on_context(text) for text in ("How many singers?", "Customers and their city")]
    [False, False]
    """
    words = [word.lower() for word in _WORD.findall(text)]
    if not words:
        return False
    if (language := find_language(text)) != "en":
        return _follows(text, language)
    is_short = len(words) <= _SHORT_WORDS
    return bool(
        _START.match(text.strip())
        or (is_short and _BACKWARD.search(text))
        or _is_fragment(words)
        or (is_short and _has_loose_pronoun(words))
    )


def list_beginnings(text: str) -> frozenset[str]:
    """The words with which a question in the language of ``text`` says that it follows another."""
    return frozenset(
        load_lexicon()["following"].get(find_language(text), "").replace(",", "").split()
    )


def _follows(text: str, language: Language) -> bool:
    """By its beginning, or as a few words that ask nothing."""
    plain = fold_text(text)
    starts, asking = (
        tuple(fold_text(word) for word in load_lexicon()[section][language].split(","))
        for section in ("following", "questioning")
    )
    if language in _NO_SPACES:
        is_short = len(plain.replace(" ", "")) <= _FRAGMENT_SIGNS
        return plain.startswith(starts) or (is_short and not any(word in plain for word in asking))
    words = plain.split()
    if any(f"{plain} ".startswith(f"{start} ") for start in starts):
        return True
    if language == "ar" and plain.startswith(starts[0]) and words[0] not in asking:
        return True
    return len(words) <= _FRAGMENT_WORDS and not set(asking).intersection(words)


def _is_fragment(words: list[str]) -> bool:
    """A few words without a question word or verb: "last year", "in Germany", "by month"."""
    if words[0] in _PREPOSITIONS:
        return len(words) <= _SHORT_WORDS and _QUESTION_WORDS.isdisjoint(words)
    return len(words) <= _FRAGMENT_WORDS and words[0] not in _QUESTION_WORDS


def _has_loose_pronoun(words: list[str]) -> bool:
    """Whether a pronoun comes before any word of the question that it could refer to."""
    for at, word in enumerate(words):
        following = words[at + 1 : at + 4]
        if word in _PRONOUNS:
            is_independent = (
                (word in ("this", "that") and following[:1] and following[0] in _TIMES)
                or not _RELATIVE.isdisjoint(following)
                or (word == "that" and at > 0)
            )
            if not is_independent:
                return True
        elif word not in STOP_WORDS and word not in _QUESTION_WORDS:
            return False
    return False
