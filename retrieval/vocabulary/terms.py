"""The user's synonym file, and the packaged lists of words.

The file is YAML and has words for tables, columns and values of one database; for an unknown key,
table or column, the error names the nearest existing one. Synonyms of tables and columns go into
the index and into prompts; synonyms of values are used to find the value. The packaged lists are
abbreviations in names, general synonyms and business terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from nl2sql.catalog import Catalog
from nl2sql.errors import SettingsError
from nl2sql.words import fold_plural, split_words
from nl2sql.yaml_file import check_yaml, read_packaged, read_yaml, suggest


@cache
def load_names() -> Mapping[str, tuple[str, ...]]:
    """Abbreviation → its words, all lower case."""
    names = read_packaged(__package__, "abbreviations.yaml")["names"]
    return {short: tuple(long.split()) for short, long in names.items()}


@cache
def load_codes() -> Mapping[str, tuple[str, ...]]:
    """Code of a status column, in lower case → words that mean it."""
    codes = read_packaged(__package__, "abbreviations.yaml")["codes"]
    return {code: tuple(words) for code, words in codes.items()}


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


_NONE: frozenset[str] = frozenset()


def related_words(word: str) -> frozenset[str]:
    """Other words for a folded, lower-case word; for most words none.

    >>> sorted(related_words("customer"))[:3]
    ['buyer', 'client', 'purchaser']
    """
    return _load_related().get(word, _NONE)


@cache
def _load_related() -> Mapping[str, frozenset[str]]:
    related: dict[str, frozenset[str]] = {}
    for line in read_packaged(__package__, "synonyms.yaml"):
        group = frozenset(fold_plural(word) for word in line.split())
        for word in group:
            related[word] = related.get(word, _NONE) | group - {word}
    return related


Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BusinessTerm:
    """Phrases with the same meaning, and names of tables, the most usual first; folded words."""

    phrases: tuple[Words, ...]
    tables: tuple[Words, ...]


def find_business_terms(text: str) -> tuple[BusinessTerm, ...]:
    """The terms of which ``text`` contains a phrase; a phrase inside a longer one does not count.

    >>> [term.tables[0] for term in find_business_terms("Headcount and gross margin")]
    [('employee',), ('sale', 'order', 'line')]
    >>> find_business_terms("Which rivers are long?")
    ()
    """
    words = split_words(text)
    found = [
        (at, at + len(phrase), term)
        for at, word in enumerate(words)
        for phrase, term in _load_terms().get(word, ())
        if tuple(words[at : at + len(phrase)]) == phrase
    ]
    longest = (
        term
        for start, end, term in found
        if not any(
            other_start <= start and end <= other_end and other_end - other_start > end - start
            for other_start, other_end, _ in found
        )
    )
    return tuple(dict.fromkeys(longest))


@cache
def _load_terms() -> Mapping[str, Sequence[tuple[Words, BusinessTerm]]]:
    """First word → the phrases that begin with it, and their terms."""
    found: dict[str, list[tuple[Words, BusinessTerm]]] = {}
    for entry in read_packaged(__package__, "business.yaml"):
        term = BusinessTerm(_split(entry["say"]), _split(entry["tables"]))
        for phrase in term.phrases:
            found.setdefault(phrase[0], []).append((phrase, term))
    return found


def _split(names: Sequence[str]) -> tuple[Words, ...]:
    return tuple(tuple(split_words(name)) for name in names)


UserWords = tuple[Annotated[str, Field(min_length=1, max_length=200)], ...]


class Synonyms(BaseModel):
    """The synonyms of one database. ``values`` maps columns to stored values and their words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    tables: Mapping[str, UserWords] = {}
    columns: Mapping[str, UserWords] = {}
    values: Mapping[str, Mapping[str, UserWords]] = {}


NO_SYNONYMS = Synonyms()


def load_synonyms(path: Path) -> Synonyms:
    """Reads the YAML file at ``path``; does not check that the names exist (``check_synonyms``).

    Raises SettingsError if it is missing or is not YAML, and one that lists all wrong keys and
    values.
    """
    return check_yaml(read_yaml(path, called="synonym file"), Synonyms, where=str(path))


def check_synonyms(synonyms: Synonyms, catalog: Catalog, *, where: str = "synonyms") -> None:
    """Raises SettingsError that lists all tables and columns that are not in the catalog."""
    tables = {table.qualified for table in catalog.tables}
    columns = {
        f"{table.qualified}.{column.name}" for table in catalog.tables for column in table.columns
    }
    wrong = [
        f"tables: there is no table {name!r}{suggest(name, tables)}"
        for name in synonyms.tables
        if name not in tables
    ]
    for section in ("columns", "values"):
        wrong += [
            f"{section}: there is no column {name!r}{suggest(name, columns)}"
            for name in getattr(synonyms, section)
            if name not in columns
        ]
    if wrong:
        raise SettingsError(f"{where}: " + "; ".join(wrong))
