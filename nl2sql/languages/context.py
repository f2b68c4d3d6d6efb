"""Whether a question depends on earlier ones: "and last year?".

Its words show it, in nine languages; measured on 7,447 independent questions and on follow-ups:
docs/lab/retrieval.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.languages import Language, load_lexicon
from nl2sql.languages.detection import find_language
from nl2sql.languages.english import list_english
from nl2sql.words import STOP_WORDS, fold_text

PRONOUNS = list_english("pronouns")
"""Words that refer to an earlier question in a short one."""

# "Those who" refers to what follows it.
_RELATIVE = list_english("relative")
_PREPOSITIONS = list_english("prepositions")
_SHORT_WORDS = 8
NO_SPACES: frozenset[Language] = frozenset({"zh", "ja"})
"""Chinese and Japanese, where a word is a sign or two."""


def continues_another(text: str) -> bool:
    """True if it says by its own words that it continues another, which a mere fragment does not.

    >>> [continues_another(text) for text in ("And in Italy?", "in Germany", "Revenue in 2024")]
    [True, True, False]
    """
    plain, language = fold_text(text), find_language(text)
    words = plain.split()
    if not words:
        return False
    starts = list_phrases("following", language)
    asking = list_phrases("questioning", language)
    if language in NO_SPACES:
        return plain.startswith(starts)
    if any(f"{plain} ".startswith(f"{start} ") for start in starts):
        return True
    # Arabic writes "and" as the beginning of a word.
    if language == "ar" and plain.startswith(starts[0]) and words[0] not in asking:
        return True
    if language != "en" or len(words) > _SHORT_WORDS:
        return False
    is_part = words[0] in _PREPOSITIONS and not set(asking).intersection(words)
    return is_part or _refers_back(plain, asking)


def _refers_back(plain: str, asking: Sequence[str]) -> bool:
    """By a phrase, or by a pronoun before any word that it could refer to."""
    if any(f" {phrase} " in f" {plain} " for phrase in list_phrases("referring", "en")):
        return True
    words = plain.split()
    for at, word in enumerate(words):
        if word in PRONOUNS:
            return _RELATIVE.isdisjoint(words[at + 1 : at + 4])
        if word not in STOP_WORDS and word not in asking:
            return False
    return False


def list_phrases(section: str, language: Language) -> tuple[str, ...]:
    """The words and phrases of a section in one language, as ``fold_text`` leaves them."""
    return tuple(fold_text(words) for words in load_lexicon()[section].get(language, "").split(","))
