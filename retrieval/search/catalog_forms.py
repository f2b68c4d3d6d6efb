"""Recognises questions about the database itself, by their whole form, in nine languages.

``catalog_forms.yaml`` holds the forms. Knows nothing of a schema: the names in a request are the
question's own words, and ``catalog_queries.py`` finds out whether they are tables and columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from nl2sql.packaged import read_packaged
from nl2sql.words import fold_pattern, fold_text, split_words

Kind = Literal["tables", "columns", "column", "period", "rows"]

_KINDS: tuple[Kind, ...] = ("tables", "columns", "column", "period", "rows")
# A longer text says more than a form does.
_MOST_CHARS = 200
_SLOT = re.compile(r"\{([a-z]\d?)\}")
_PART = re.compile(r"<([a-z]+)>")


@dataclass(frozen=True, slots=True)
class CatalogRequest:
    """What is asked of the catalog; ``table`` and ``column`` are the question's words, or empty.

    ``means`` holds the question's folded words for the kind. Where the schema has a name with one
    of them, the question means that.
    """

    kind: Kind
    table: str = ""
    column: str = ""
    means: frozenset[str] = frozenset()


def read_request(text: str) -> CatalogRequest | None:
    """The request; None if the whole text has none of the forms.

    >>> read_request("Welche Spalten hat orders?")
    CatalogRequest(kind='columns', table='orders', column='', means=frozenset({'spalten'}))
    >>> read_request("Show me all tables in the restaurant's dining room")
    """
    if len(text) > _MOST_CHARS:
        return None
    forms = _load()
    plain = forms.ends.sub("", forms.starts.sub("", fold_text(text)))
    for kind, form in forms.forms:
        if match := form.fullmatch(plain):
            said = {name[0]: words.strip() for name, words in match.groupdict().items() if words}
            table, column = said.get("t", ""), said.get("c", "")
            if "." in column and not table:
                table, _, column = column.rpartition(".")
            return CatalogRequest(kind, table, column, forms.words[kind] & {*split_words(text)})
    return None


def strip_around(name: str) -> str:
    """The name without articles and the word for a table."""
    words = name.split()
    around = _load().around
    while len(words) > 1 and words[0] in around:
        del words[0]
    while len(words) > 1 and words[-1] in around:
        del words[-1]
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class _Forms:
    forms: Sequence[tuple[Kind, re.Pattern[str]]]
    words: Mapping[Kind, frozenset[str]]
    around: frozenset[str]
    starts: re.Pattern[str]
    ends: re.Pattern[str]


@cache
def _load() -> _Forms:
    loaded = cast("dict[str, Any]", read_packaged(__package__, "catalog_forms.yaml"))
    words, around, polite = loaded.pop("words"), loaded.pop("around"), loaded.pop("polite")
    # A form with a name comes after all without one.
    forms = sorted(
        (
            (kind, form)
            for language in loaded.values()
            for kind in _KINDS
            for form in language.get(kind, ())
        ),
        key=lambda entry: "{" in entry[1],
    )
    parts = {
        id(form): language["parts"]
        for language in loaded.values()
        for kind in _KINDS
        for form in language.get(kind, ())
    }
    return _Forms(
        [(kind, _compile(form, parts[id(form)])) for kind, form in forms],
        {kind: frozenset(fold_pattern(words[kind]).split()) for kind in _KINDS},
        frozenset(fold_pattern(around).split()),
        re.compile(rf"^(?:(?:{fold_pattern(polite['start'])})(?: |(?<=[请問问])))+"),
        re.compile(rf"(?:(?: |(?=[吗呢]))(?:{fold_pattern(polite['end'])}))+$"),
    )


def _compile(form: str, parts: Mapping[str, str]) -> re.Pattern[str]:
    whole = form
    while _PART.search(whole):
        whole = _PART.sub(lambda match: parts[match[1]], whole)
    return re.compile(_SLOT.sub(r"(?P<\1>\\S.*?)", fold_pattern(whole)))
