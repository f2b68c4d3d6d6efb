"""Folds words for comparison: case, accents, punctuation and plurals do not count.

Languages without spaces between words (Chinese, Japanese, Thai) are not segmented: a run of letters
is one word.
"""

from __future__ import annotations

import re
import unicodedata

from nl2sql.words import fold_plural

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['\u2019]s\b")


def fold_words(text: str) -> list[str]:
    """The folded words of a value or phrase.

    >>> fold_words("  São-Paulo's OFFICES ")
    ['sao', 'paulo', 'office']
    """
    if text.isascii():
        folded = text.lower()
    else:
        apart = unicodedata.normalize("NFKD", text.casefold())
        folded = "".join(letter for letter in apart if not unicodedata.combining(letter))
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
