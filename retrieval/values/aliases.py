"""Words that mean a value: from the synonym file, the column's comment and packaged lists.

So "cancelled" finds ``CXL``, "French" finds ``France`` and "female" finds ``F``, if the column
contains these values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from nl2sql.packaged import read_packaged
from nl2sql.words import split_words
from retrieval.values.phrases import fold_text
from retrieval.vocabulary.terms import load_codes

# "CXL = cancelled, SHP = shipped on time": a code, a sign, and words up to the next separator.
_MEANING = re.compile(
    r"""(?<!\w)['"]?(?P<code>\w[\w+/-]{0,19})['"]?\s*(?:=|:|→|\s-\s|\bmeans\b|\bfor\b)\s*
        (?P<words>[^\d\W][^=;:,.()|/\n]{1,80}+)(?!=)""",
    re.VERBOSE,
)
_OR = re.compile(r"\s+or\s+")
_LONGEST_CODE = 12


def find_aliases(
    column: str, values: Sequence[str], comment: str, synonyms: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Words → the value that they mean. The user's synonyms come before the comment's words.

    >>> find_aliases("status", ["CXL", "OPN"], "CXL = annulled or void, SHP = shipped", {})
    {'annulled': 'CXL', 'void': 'CXL', 'cancelled': 'CXL', 'canceled': 'CXL', 'open': 'OPN'}
    """
    own = {value.lower(): value for value in values}
    found: dict[str, str] = {}
    for stored, words in synonyms.items():
        if (value := own.get(stored.lower())) is not None:
            found.update(dict.fromkeys(words, value))
    for code, meaning in _read_comment(comment):
        if (value := own.get(code.lower())) is not None:
            for words in _OR.split(meaning):
                found.setdefault(words, value)
    lists = [load_codes(), _load()["countries"]]
    if not set(_load()["sexes"]["columns"]).isdisjoint(split_words(column)):
        lists.insert(0, _load()["sexes"]["values"])
    for folded, value in own.items():
        for list_ in lists:
            for words in list_.get(folded, ()):
                found.setdefault(words, value)
    return {words: value for words, value in found.items() if fold_text(words) != fold_text(value)}


def _read_comment(comment: str) -> list[tuple[str, str]]:
    return [
        (match["code"], match["words"].strip(" '\""))
        for match in _MEANING.finditer(comment)
        if len(match["code"]) <= _LONGEST_CODE
    ]


@cache
def _load() -> Mapping[str, Any]:
    lists: Mapping[str, Any] = read_packaged(__package__, "meanings.yaml")
    return lists
