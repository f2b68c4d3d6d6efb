"""Finds the values that phrases may mean, and selects the best of them.

These are two steps, because the caller removes between them what the principal may not see, so that
hidden values do not influence the selection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from rapidfuzz.distance import Indel
from rapidfuzz.process import extractOne

from nl2sql.catalog import Table
from nl2sql.types import ValueMatch
from nl2sql.words import split_words
from retrieval.index_store.value_store import ValueColumn
from retrieval.values.dictionary import LEAST_LETTERS, FoundValue, ValueDictionary
from retrieval.values.phrases import ValuePhrase, fold_word, fold_words
from retrieval.vocabulary.terms import related_words

MOST_FUZZY_WORDS = 3
MOST_VALUES = 8
"""Values that a prompt shows."""

# For values with the name of a table or column: "product" in "how many products" means a table.
# Capitalised, as in "the Sales department", it is more likely a value.
_SCHEMA_WORD_FACTOR = 0.7
_SCHEMA_NAME_FACTOR = 0.8
_LEAST_SCORE = 0.65
# A match with at least this score hides matches of phrases inside its own.
_SURE = 0.9
_MOST_PER_COLUMN = 3


def find_values(
    dictionary: ValueDictionary,
    phrases: Iterable[ValuePhrase],
    is_visible: Callable[[ValueColumn], bool],
    is_open: Callable[[ValueColumn], bool],
) -> list[FoundValue]:
    """All values in visible columns that the phrases may mean.

    For phrases inside one that is exactly a value of an open column, no similar values are
    searched. Beginnings are searched only in open columns, because no query confirms how many
    values begin with a phrase.
    """
    phrases = list(phrases)
    found: list[FoundValue] = []
    sure: list[ValuePhrase] = []
    for phrase in phrases:
        exact = [
            value
            for value in dictionary.find_exact(phrase)
            if is_visible(value.column) and (not phrase.exact_case or _is_spelled(value))
        ]
        found += exact
        if any(is_open(value.column) for value in exact):
            sure.append(phrase)
    for phrase in phrases:
        if phrase.exact_only or phrase.exact_case or phrase.words > MOST_FUZZY_WORDS:
            continue
        if any(_lies_within(phrase, other) for other in sure):
            continue
        # A word that has synonyms is spelled rightly: "person" is not the name Pearson.
        if not phrase.quoted and related_words(phrase.folded):
            continue
        found += (value for value in dictionary.find_similar(phrase) if is_visible(value.column))
        if phrase.words > 1 or phrase.is_name:
            found += dictionary.find_beginnings(phrase, is_open)
    return found


def _is_spelled(found: FoundValue) -> bool:
    """Whether the value is written like the phrase, or the phrase is a code that means it."""
    text, aliases = found.phrase.text, found.column.aliases
    return found.value in (text, aliases.get(text), aliases.get(text.lower()))


def select_values(
    found: Iterable[FoundValue], schema_words: Collection[str], asked: Collection[str], limit: int
) -> tuple[ValueMatch, ...]:
    """The best ``limit`` matches, at most three for each column and one for each value.

    ``schema_words`` are the words of all visible names of tables and columns. ``asked`` are the
    question's words: of equal matches, those whose table or column is named come first.
    """
    best: dict[tuple[str, str], FoundValue] = {}
    for each in found:
        match = replace(each, score=_weigh(each, schema_words))
        key = (match.column.qualified, match.value)
        if match.score >= _LEAST_SCORE and (key not in best or best[key].score < match.score):
            best[key] = match
    sure = [match for match in best.values() if match.score >= _SURE]
    kept = [
        match
        for match in best.values()
        if match.phrase.quoted or not any(_hides(other, match) for other in sure)
    ]
    columns = {match.column.qualified: match.column for match in kept}
    named = {name: _count_named(column, asked) for name, column in columns.items()}

    def rank(match: FoundValue) -> tuple[float, int, int, str, str]:
        column = match.column.qualified
        return -match.score, -match.phrase.words, -named[column], column, match.value

    return _cut(sorted(kept, key=rank), limit)


def choose_shown(
    matches: Iterable[ValueMatch], tables: Iterable[Table], limit: int
) -> tuple[ValueMatch, ...]:
    """The best ``limit`` matches in the tables that are shown.

    Matches with a low score whose words are all names in the shown tables are left out. Only names
    of the shown tables count, as in a database of a thousand tables every word is a name.
    """
    shown = {table.qualified: table for table in tables}
    words = collect_words(shown.values())
    return tuple(
        match
        for match in matches
        if match.table in shown
        and (match.score >= _SCHEMA_NAME_FACTOR or not words.issuperset(fold_words(match.phrase)))
    )[:limit]


def collect_words(tables: Collection[Table]) -> frozenset[str]:
    """The words of all names of schemas, tables and columns."""
    names = {name for table in tables for name in (table.schema, table.name)}
    names |= {column.name for table in tables for column in table.columns}
    return frozenset(fold_word(word) for name in names for word in split_words(name))


def _cut(kept: Iterable[FoundValue], limit: int) -> tuple[ValueMatch, ...]:
    chosen: list[ValueMatch] = []
    by_column: Counter[str] = Counter()
    by_phrase: Counter[str] = Counter()
    for found in kept:
        column, phrase = found.column.qualified, found.phrase.folded
        if by_column[column] < _MOST_PER_COLUMN and by_phrase[phrase] < max(limit // 2, 1):
            by_column[column] += 1
            by_phrase[phrase] += 1
            chosen.append(found.build_match())
    return tuple(chosen[:limit])


def _weigh(match: FoundValue, schema_words: Collection[str]) -> float:
    if match.phrase.quoted:
        return match.score
    is_schema = any(
        all(word in schema_words for word in words)
        for words in (match.phrase.folded.split(), fold_words(match.value))
    )
    if not is_schema and not _is_rather_name(match, schema_words):
        return match.score
    factor = _SCHEMA_NAME_FACTOR if match.phrase.is_name else _SCHEMA_WORD_FACTOR
    return match.score * factor


def _is_rather_name(match: FoundValue, schema_words: Collection[str]) -> bool:
    """Whether one word is as similar to the name of a table or column as to this other word.

    "Productos" means the table products in another language, not the department Production.
    """
    phrase, value = match.phrase.folded, " ".join(fold_words(match.value))
    if match.phrase.words > 1 or " " in value or phrase == value:
        return False
    alike = Indel.normalized_similarity(phrase, value)
    if alike < LEAST_LETTERS:
        return False
    similar = extractOne(
        phrase, schema_words, scorer=Indel.normalized_similarity, score_cutoff=alike
    )
    return similar is not None


def _count_named(column: ValueColumn, asked: Collection[str]) -> int:
    words = fold_words(f"{column.table.partition('.')[2]} {column.column}")
    return len(set(words) & set(asked))


def _hides(other: FoundValue, match: FoundValue) -> bool:
    """Whether ``other``, of a longer phrase, has a higher score, or an equal one in its column."""
    if other.phrase == match.phrase or not _lies_within(match.phrase, other.phrase):
        return False
    same = other.column.qualified == match.column.qualified
    return other.score > match.score or (same and other.score == match.score)


def _lies_within(inner: ValuePhrase, outer: ValuePhrase) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
