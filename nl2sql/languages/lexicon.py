"""English words for the business words of a question in another language (``lexicon.yaml``).

Schemas are mostly in English, and so is the embedder. Search and linking therefore read these words
after the question's own; the model gets the question as it was asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

import yaml

from nl2sql.languages import Language, find_language
from nl2sql.words import fold_text

# Written without spaces between the words, or in compounds: a stem may stand anywhere.
_ANYWHERE: frozenset[Language] = frozenset({"de", "zh", "ja", "ar"})


@lru_cache(maxsize=1 << 10)
def say_in_english(text: str) -> str:
    """The English words, in the lexicon's order; empty for a question in English.

    >>> say_in_english("Wie viele Kundenaufträge wurden storniert?")
    'customer order cancelled'
    >>> say_in_english("How many customers?")
    ''
    """
    language = find_language(text)
    if language == "en":
        return ""
    plain = f" {fold_text(text)} "
    before = "" if language in _ANYWHERE else " "
    found = (
        english
        for english, stems in _load(language)
        if any(f"{before}{stem}" in plain for stem in stems)
    )
    return " ".join(dict.fromkeys(word for words in found for word in words.split()))


@cache
def _load(language: Language) -> Sequence[tuple[str, tuple[str, ...]]]:
    text = files(__package__).joinpath("lexicon.yaml").read_text(encoding="utf-8")
    lexicon: Mapping[str, Mapping[str, str]] = yaml.safe_load(text)
    return tuple(
        (english, tuple(fold_text(stem) for stem in said[language].split(",")))
        for english, said in lexicon.items()
    )
