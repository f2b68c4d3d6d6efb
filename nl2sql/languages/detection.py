"""Recognises the language of a question: by its script, or by its function words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from nl2sql.languages import LANGUAGES, Language, load_lexicon
from nl2sql.words import STOP_WORDS, fold_plural, fold_text

_KANA = re.compile("[\u3040-\u30ff]")
_IDEOGRAPH = re.compile("[\u4e00-\u9fff]")
_ARABIC = re.compile("[\u0600-\u06ff]")


def _load_words(section: str) -> Mapping[Language, frozenset[str]]:
    words: Mapping[str, str] = load_lexicon()[section]
    return {language: frozenset(words.get(language, "").split()) for language in LANGUAGES}


# A word that several of these languages share counts for each of them.
_STOP_WORDS = _load_words("stop")
_TELLING = _load_words("telling")


def find_language(text: str) -> Language:
    """The language of the text; English if nothing tells.

    >>> [find_language(text) for text in ("Wie viele?", "有多少客户", "客戶はいくつ", "Madrid")]
    ['de', 'zh', 'ja', 'en']
    """
    if _KANA.search(text):
        return "ja"
    if _IDEOGRAPH.search(text):
        return "zh"
    if _ARABIC.search(text):
        return "ar"
    if "¿" in text or "¡" in text:
        return "es"
    words = fold_text(text).split()
    counts = {
        language: sum(word in _STOP_WORDS[language] or word in _TELLING[language] for word in words)
        for language in LANGUAGES
    }
    # The first of those with the most.
    return max(LANGUAGES, key=lambda language: counts[language])


@lru_cache(maxsize=1 << 8)
def list_stop_words(text: str) -> frozenset[str]:
    """The English function words, and those of the text's language, as ``split_words`` folds them.

    >>> list_stop_words("Wie viele?") - list_stop_words("How many?") >= {"wie", "viele", "der"}
    True
    """
    language = find_language(text)
    own = frozenset() if language == "en" else _STOP_WORDS[language]
    return STOP_WORDS | {fold_plural(word) for word in own}
