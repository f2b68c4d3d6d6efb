"""A question as the linking rules read it, and the words of names and prose, each cut once.

The words of a schema are the same in every question, so they are kept: cutting them anew would be
most of what linking costs. The caches hold words of texts and nothing of who asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from nl2sql.words import STOP_WORDS, content_words, split_words
from retrieval.vocabulary.abbreviations import expand_words
from retrieval.vocabulary.general_synonyms import related_words

_TOKEN = re.compile(r"[^\W_]+")
# What is left of "customer's" and "aren't".
_ENDINGS = frozenset({"s", "t"})
# One letter in five may be wrong, left out, doubled or swapped with the next.
_LEAST_SIMILARITY = 0.8
# Shorter words have too many neighbours: "state" and "stage", "plan" and "plane".
_SHORTEST_TYPO = 6
# Words that share so many first letters, and end in a few more, are forms of one word.
_STEM = 5
_LONGEST_ENDING = 4
_FORM = 0.9
_RELATED = 0.8


@lru_cache(maxsize=1 << 17)
def read_name(name: str) -> tuple[str, ...]:
    """The different words of a name, in their order, known abbreviations written out.

    >>> read_name("CustomerOrders_per_cust")
    ('customer', 'order', 'per')
    """
    return tuple(dict.fromkeys(expand_words(split_words(name))))


@lru_cache(maxsize=1 << 17)
def read_compact(name: str) -> str:
    """The words of a name without a break.

    >>> read_compact("birth_date")
    'birthdate'
    """
    return "".join(split_words(name))


@lru_cache(maxsize=1 << 17)
def read_prose(text: str) -> frozenset[str]:
    """The content words of a comment or gloss."""
    return frozenset(content_words(text))


@dataclass(frozen=True, slots=True)
class Near:
    """Words of the question that mean a word of the schema, how surely (0 to 1), and by what."""

    text: str
    similarity: float
    method: str


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The content words of a question, folded, each with the text that it stands for.

    ``compounds`` are two neighbours written as one.
    """

    words: dict[str, str]
    compounds: dict[str, str]

    def find_near(self, vocabulary: Iterable[str]) -> dict[str, Near]:
        """Word of ``vocabulary`` → what in the question means it though it is another word.

        Only words of the question that ``vocabulary`` lacks.
        """
        known = set(vocabulary)
        found: dict[str, Near] = {}
        for word, text in self.compounds.items():
            if word in known:
                found[word] = Near(text, 1.0, "name")
        strange = [word for word in self.words if word not in known]
        for word in strange:
            for other in related_words(word) & known:
                found.setdefault(other, Near(self.words[word], _RELATED, "synonym"))
        strange = [word for word in strange if len(word) >= _SHORTEST_TYPO]
        if not strange:
            return found
        stems: dict[str, list[str]] = {}
        for word in known:
            if len(word) >= _STEM:
                stems.setdefault(word[:_STEM], []).append(word)
        choices = [word for group in stems.values() for word in group]
        for word in strange:
            forms = [
                other
                for other in stems.get(word[:_STEM], ())
                if abs(len(other) - len(word)) <= _LONGEST_ENDING
                and (word.startswith(other) or other.startswith(word))
            ]
            for form in forms:
                found.setdefault(form, Near(self.words[word], _FORM, "fuzzy"))
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
                found.setdefault(nearest[0], Near(self.words[word], similarity, "fuzzy"))
        return found


def read_question(text: str) -> QuestionWords:
    """The words of a question.

    >>> question_words = read_question("Which air ports do the companies use?")
    >>> list(question_words.words), question_words.compounds["airport"]
    (['air', 'port', 'company', 'use'], 'air ports')
    """
    tokens = [(token, parts) for token in _TOKEN.findall(text) if (parts := split_words(token))]
    words: dict[str, str] = {}
    written_out: dict[str, str] = {}
    compounds: dict[str, str] = {}
    for at, (token, parts) in enumerate(tokens):
        for part in parts:
            if part not in STOP_WORDS and part not in _ENDINGS:
                words.setdefault(part, token)
        for part in expand_words(parts):
            if part not in STOP_WORDS and part not in _ENDINGS:
                written_out.setdefault(part, token)
        if at and len(parts) == len(tokens[at - 1][1]) == 1:
            before, (first,) = tokens[at - 1]
            if STOP_WORDS.isdisjoint((first, parts[0])):
                compounds.setdefault(first + parts[0], f"{before} {token}")
    # A word that is said stands for itself, whatever is short for it besides.
    return QuestionWords(written_out | words, compounds)
