"""From phrases to the few values worth telling: found, weighed, and the best kept.

Two steps, because between them somebody must take out what the principal may not be told: what is
withheld then leaves no trace in what is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from nl2sql.catalog import Table
from nl2sql.types import ValueMatch
from nl2sql.words import split_words
from retrieval.index_store.value_column import ValueColumn
from retrieval.values.dictionary import Hit, ValueDictionary
from retrieval.values.normal_form import fold_word, fold_words
from retrieval.values.phrases import Phrase

MOST_FUZZY_WORDS = 3

# A value that is called as tables or columns are: "product" in "how many products" asks for a
# table. Written as a name, as in "the Sales department", it may be a value after all.
_SCHEMA_WORD_FACTOR = 0.7
_SCHEMA_NAME_FACTOR = 0.8
_LEAST_SCORE = 0.65
# What hides every match that lies inside its words.
_SURE = 0.9
_MOST_A_COLUMN = 3


@dataclass(frozen=True, slots=True)
class Found:
    """A phrase and a value that it may mean."""

    phrase: Phrase
    hit: Hit

    @property
    def score(self) -> float:
        """From 0 to 1."""
        return self.hit.score


def find_values(
    dictionary: ValueDictionary,
    phrases: Iterable[Phrase],
    may_look: Callable[[ValueColumn], bool],
    is_open: Callable[[ValueColumn], bool],
) -> list[Found]:
    """All that the phrases may mean in columns that ``may_look`` admits.

    What lies inside a phrase whose very words are a value of an open column is not looked for among
    similar values. Beginnings are found in open columns alone: how many values begin so is nothing
    that a query could confirm.
    """
    phrases = list(phrases)
    found: list[Found] = []
    sure: list[Phrase] = []
    for phrase in phrases:
        hits = [
            hit
            for hit in dictionary.find_exact(phrase.folded)
            if may_look(hit.column) and (not phrase.exact_case or hit.value == phrase.text)
        ]
        found += [Found(phrase, hit) for hit in hits]
        if any(is_open(hit.column) for hit in hits):
            sure.append(phrase)
    for phrase in phrases:
        if phrase.exact_only or phrase.exact_case or phrase.words > MOST_FUZZY_WORDS:
            continue
        if any(_lies_within(phrase, other) for other in sure):
            continue
        hits = [hit for hit in dictionary.find_similar(phrase.folded) if may_look(hit.column)]
        if phrase.words > 1 or phrase.is_name:
            hits += dictionary.find_beginnings(phrase.folded, is_open)
        found += [Found(phrase, hit) for hit in hits]
    return found


def select_values(
    found: Iterable[Found], schema_words: Collection[str], asked: Collection[str], limit: int
) -> tuple[ValueMatch, ...]:
    """The best ``limit`` of them as matches: at most three a column, one a value.

    ``schema_words`` are the words of all table and column names that the principal sees, ``asked``
    the question's words: of two equal matches that one is first whose table or column is named.
    """
    weighed: dict[tuple[str, str, str], tuple[float, Found]] = {}
    for each in found:
        score = _weigh(each, schema_words)
        key = (each.hit.column.table, each.hit.column.column, each.hit.value)
        if score >= _LEAST_SCORE and (key not in weighed or weighed[key][0] < score):
            weighed[key] = (score, each)
    sure = [pair for pair in weighed.values() if pair[0] >= _SURE]
    kept = [
        (score, each)
        for score, each in weighed.values()
        if each.phrase.quoted or not any(_hides(other, score, each) for other in sure)
    ]
    named: dict[str, int] = {}
    for _, each in kept:
        column = each.hit.column
        if column.qualified not in named:
            named[column.qualified] = _count_named(column, asked)
    kept.sort(
        key=lambda pair: (
            -pair[0],
            -pair[1].phrase.words,
            -named[pair[1].hit.column.qualified],
            pair[1].hit.column.qualified,
            pair[1].hit.value,
        )
    )
    return _cut(kept, limit)


def choose_shown(
    matches: Iterable[ValueMatch], tables: Iterable[Table], limit: int
) -> tuple[ValueMatch, ...]:
    """The best ``limit`` matches in the tables that are shown.

    Those that count less for their words are left out where these name what is shown: in a database
    of a thousand tables every word names something, and only here it is known what is in question.
    """
    shown = {table.qualified: table for table in tables}
    names = {name for table in shown.values() for name in (table.schema, table.name)}
    names |= {column.name for table in shown.values() for column in table.columns}
    words = {fold_word(word) for name in names for word in split_words(name)}
    return tuple(
        match
        for match in matches
        if match.table in shown
        and (match.score >= _SCHEMA_NAME_FACTOR or not words.issuperset(fold_words(match.phrase)))
    )[:limit]


def _cut(kept: list[tuple[float, Found]], limit: int) -> tuple[ValueMatch, ...]:
    chosen: list[ValueMatch] = []
    a_column: dict[str, int] = {}
    a_phrase: dict[str, int] = {}
    for score, each in kept:
        column, phrase = each.hit.column, each.phrase
        if a_column.get(column.qualified, 0) >= _MOST_A_COLUMN:
            continue
        if a_phrase.get(phrase.folded, 0) >= max(limit // 2, 1):
            continue
        a_column[column.qualified] = a_column.get(column.qualified, 0) + 1
        a_phrase[phrase.folded] = a_phrase.get(phrase.folded, 0) + 1
        chosen.append(
            ValueMatch(phrase.text, column.table, column.column, each.hit.value, round(score, 3))
        )
        if len(chosen) == limit:
            break
    return tuple(chosen)


def _weigh(each: Found, schema_words: Collection[str]) -> float:
    if each.phrase.quoted:
        return each.hit.score
    is_schema = any(
        all(word in schema_words for word in words)
        for words in (each.phrase.folded.split(), fold_words(each.hit.value))
    )
    if not is_schema:
        return each.hit.score
    factor = _SCHEMA_NAME_FACTOR if each.phrase.is_name else _SCHEMA_WORD_FACTOR
    return each.hit.score * factor


def _count_named(column: ValueColumn, asked: Collection[str]) -> int:
    words = fold_words(f"{column.table.partition('.')[2]} {column.column}")
    return len(set(words) & set(asked))


def _hides(other: tuple[float, Found], score: float, each: Found) -> bool:
    """Whether a match says more of a longer phrase: in the same column, or more surely."""
    outer = other[1]
    if outer.phrase == each.phrase or not _lies_within(each.phrase, outer.phrase):
        return False
    same = outer.hit.column.qualified == each.hit.column.qualified
    return other[0] > score or (same and other[0] == score)


def _lies_within(inner: Phrase, outer: Phrase) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
