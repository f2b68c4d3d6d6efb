"""Expands abbreviations in names, by the packaged list (``abbreviations.yaml``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from nl2sql.packaged import read_packaged
from nl2sql.words import split_words


@cache
def load_names() -> Mapping[str, tuple[str, ...]]:
    """Abbreviation → its words, all lower case."""
    return {short: tuple(long.split()) for short, long in _load()["names"].items()}


@cache
def load_codes() -> Mapping[str, tuple[str, ...]]:
    """Code of a status column, in lower case → words that mean it."""
    return {code: tuple(words) for code, words in _load()["codes"].items()}


@cache
def _load() -> Mapping[str, Mapping[str, str]]:
    lists: Mapping[str, Mapping[str, str]] = read_packaged(__package__, "abbreviations.yaml")
    return lists


def expand_words(words: Sequence[str]) -> list[str]:
    """The words of a name, in lower case, with all known abbreviations expanded.

    >>> expand_words(["cust", "no"]), expand_words(["qty", "on", "hand"])
    (['customer', 'number'], ['quantity', 'on', 'hand'])
    >>> expand_words(["no", "show"])
    ['no', 'show']
    """
    names = load_names()
    expanded: list[str] = []
    for at, word in enumerate(words):
        # "no" means number only at the end of a name.
        known = names.get(word) if word != "no" or 0 < at == len(words) - 1 else None
        expanded += known or (word,)
    return expanded


def expand_name(name: str) -> str:
    """The name in words, with abbreviations expanded.

    >>> expand_name("InvcAmtDt"), expand_name("order_total")
    ('invoice amount date', 'order total')
    """
    return " ".join(expand_words(split_words(name)))
