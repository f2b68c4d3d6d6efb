"""Splits questions, names and comments into the words that the linking rules compare.

The words of the schema are cached, because splitting them for every question would take most of the
time of linking. The caches hold nothing about principals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from nl2sql.languages.detection import list_stop_words
from nl2sql.words import content_words, split_words
from retrieval.vocabulary.terms import expand_words, related_words

_TOKEN = re.compile(r"[^\W_]+")
# The last tokens of "customer's" and "aren't".
_ENDINGS = frozenset({"s", "t"})
# One letter in five may be wrong, missing, doubled or swapped with the next.
_LEAST_SIMILARITY = 0.8
# Shorter words have too many neighbours: "state" and "stage", "plan" and "plane".
_SHORTEST_TYPO = 6
# If one word is the beginning of another, with at least this many letters and at most so many more,
# both are forms of one word.
_STEM = 5
_LONGEST_ENDING = 4
_FORM = 0.9
_RELATED = 0.8


@lru_cache(maxsize=1 << 17)
def read_name(name: str) -> tuple[str, ...]:
    """The distinct words of a name, in order, with known abbreviations expanded.

    >>> read_name("CustomerOrders_per_cust")
    ('customer', 'order', 'per')
    """
    return tuple(dict.fromkeys(expand_words(split_words(name))))


@lru_cache(maxsize=1 << 17)
def read_compact(name: str) -> str:
    """The words of a name without separators.

    >>> read_compact("birth_date")
    'birthdate'
    """
    return "".join(split_words(name))


@lru_cache(maxsize=1 << 17)
def read_prose(text: str) -> frozenset[str]:
    """The content words of a comment or gloss."""
    return frozenset(content_words(text))


@dataclass(frozen=True, slots=True)
class NearWord:
    """The question's text that means a word of the schema, their similarity (0 to 1), and why."""

    text: str
    similarity: float
    method: str


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The folded content words of a question, mapped to their original text.

    ``compounds`` are two neighbouring words joined.
    """

    words: dict[str, str]
    compounds: dict[str, str]

    def find_near(self, vocabulary: Iterable[str]) -> dict[str, NearWord]:
        """Word of ``vocabulary`` → a different word of the question with the same meaning.

        Only words of the question that are not in ``vocabulary`` are considered.
        """
        # In its order, so that of words equally near the same one is always found.
        known = dict.fromkeys(vocabulary)
        found: dict[str, NearWord] = {}
        for word, text in self.compounds.items():
            if word in known:
                found[word] = NearWord(text, 1.0, "name")
        unknown = [word for word in self.words if word not in known]
        for word in unknown:
            for other in related_words(word) & known.keys():
                found.setdefault(other, NearWord(self.words[word], _RELATED, "synonym"))
        unknown = [word for word in unknown if len(word) >= _SHORTEST_TYPO]
        if not unknown:
            return found
        stems: dict[str, list[str]] = {}
        for word in known:
            if len(word) >= _STEM:
                stems.setdefault(word[:_STEM], []).append(word)
        choices = [word for group in stems.values() for word in group]
        for word in unknown:
            forms = [
                other
                for other in stems.get(word[:_STEM], ())
                if abs(len(other) - len(word)) <= _LONGEST_ENDING
                and (word.startswith(other) or other.startswith(word))
            ]
            for form in forms:
                found.setdefault(form, NearWord(self.words[word], _FORM, "fuzzy"))
            if forms:
                continue
            nearest = process.extractOne(
                word,
                choices,
                scorer=OSA.normalized_similarity,
                score_cutoff=_LEAST_SIMILARITY,
            )
            if nearest is not None and nearest[0][0] == word[0]:
                similarity = round(nearest[1], 3)
                found.setdefault(nearest[0], NearWord(self.words[word], similarity, "fuzzy"))
        return found


def read_question(text: str) -> QuestionWords:
    """The words of a question.

    >>> question_words = read_question("Which air ports do the companies use?")
    >>> list(question_words.words), question_words.compounds["airport"]
    (['air', 'port', 'company', 'use'], 'air ports')
    """
    stops = list_stop_words(text)
    tokens = [(token, parts) for token in _TOKEN.findall(text) if (parts := split_words(token))]
    words: dict[str, str] = {}
    written_out: dict[str, str] = {}
    compounds: dict[str, str] = {}
    for at, (token, parts) in enumerate(tokens):
        for part in parts:
            if part not in stops and part not in _ENDINGS:
                words.setdefault(part, token)
        for part in expand_words(parts):
            if part not in stops and part not in _ENDINGS:
                written_out.setdefault(part, token)
        if at and len(parts) == len(tokens[at - 1][1]) == 1:
            before, (first,) = tokens[at - 1]
            if stops.isdisjoint((first, parts[0])):
                compounds.setdefault(first + parts[0], f"{before} {token}")
    # A word of the question takes precedence over an expanded abbreviation.
    return QuestionWords(written_out | words, compounds)
