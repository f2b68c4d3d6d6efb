"""Decides whether a question asks what a verified query answers, with other values.

By words alone, and never on a near miss: without its values, the question must have the content
words of a phrasing in their order. A word may be another form of it or a synonym, unless it names
something else in the schema. What is counted, grouped or compared, who and when, must be equal too.
In languages other than English, all words must be equal, in their order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product
from math import prod
from typing import NamedTuple

from nl2sql.catalog import Catalog
from nl2sql.languages.english import TIME_WORDS
from nl2sql.types import ValueMatch
from nl2sql.words import STOP_WORDS, split_words
from retrieval.examples.pairs import Pair
from retrieval.examples.parameters import SLOT, Parameter
from retrieval.examples.question_items import (
    QuestionToken,
    Reading,
    read_items,
    read_phrasing,
    read_text,
)
from retrieval.values.phrases import GENERIC, fold_text, fold_words
from retrieval.vocabulary.terms import expand_words, related_words

_WITHOUT_SYNONYMS = GENERIC | TIME_WORDS | set("income earning gain cost charge".split())
_ENDINGS = ("d", "ed", "ing")
_MOST_TOKENS = 80
_MOST_ASSIGNMENTS = 60


class _Span(NamedTuple):
    start: int
    end: int
    value: str


def list_schema_words(catalog: Catalog) -> frozenset[str]:
    """The folded words of all names of tables and columns, with abbreviations expanded."""
    names = {table.name for table in catalog.tables}
    names |= {column.name for table in catalog.tables for column in table.columns}
    words = {word for name in names for word in expand_words(split_words(name))}
    return frozenset(fold_text(word) for word in words)


def match_pattern(
    question: str, pair: Pair, said: Collection[ValueMatch], schema_words: Collection[str]
) -> dict[str, str] | None:
    """The values with which the pair answers the question; None if it does not.

    ``said`` are values of its columns that the question names, ``schema_words`` are
    ``list_schema_words`` of what the principal sees.
    """
    asked, texts = read_text(question), pair.texts
    tokens = asked.tokens
    if len(tokens) > _MOST_TOKENS or any(token.slot for token in tokens):
        return None
    spans = {
        name: list(_find_spans(tokens, parameter, said))
        for name, parameter in pair.parameters.items()
    }
    for phrasing in (pair.question, *pair.phrasings):
        named = read_text(phrasing)
        # "Who was the head?" is not who it is now.
        if asked.language != named.language or (asked.is_past and not named.is_past):
            continue
        wanted = read_phrasing(phrasing, texts)
        slots = {name: spans[name] for name in SLOT.findall(phrasing)}
        found: list[dict[str, str]] = []
        for put, values in _put_slots(tokens, slots):
            items = read_items(put, texts, asked.language)
            if values not in found and _is_same(items, wanted, schema_words):
                found.append(values)
        if len(found) == 1:
            return {**pair.defaults, **found[0]}
    return None


# -- values --------------------------------------------------------------------------------------


def _find_spans(
    tokens: Sequence[QuestionToken], parameter: Parameter, said: Collection[ValueMatch]
) -> Iterator[_Span]:
    """Where the question has a value that the parameter may have."""
    if parameter.type == "text":
        yield from _find_texts(tokens, _index_values(parameter.values))
        named = (each for each in said if f"{each.table}.{each.column}" == parameter.column)
        yield from _find_texts(tokens, _index((each.phrase, each.value) for each in named))
        return
    for at, token in enumerate(tokens):
        text = token.date if parameter.type == "date" else token.number
        if text and parameter.admits(text):
            yield _Span(at, at + 1, text)


def _index(values: Iterable[tuple[str, str]]) -> Mapping[str, list[tuple[str, str]]]:
    """Phrases and the values that they mean, by the letters of the phrase."""
    found: dict[str, list[tuple[str, str]]] = {}
    for phrase, value in values:
        found.setdefault("".join(fold_words(phrase)), []).append((phrase, value))
    return found


@lru_cache(maxsize=1 << 10)
def _index_values(values: tuple[str, ...]) -> Mapping[str, list[tuple[str, str]]]:
    return _index((value, value) for value in values)


def _find_texts(
    tokens: Sequence[QuestionToken], phrases: Mapping[str, list[tuple[str, str]]]
) -> Iterator[_Span]:
    """Where tokens are the words of a phrase; a letter or function word in equal case."""
    longest = max(map(len, phrases), default=0)
    for start, first in enumerate(tokens):
        text = ""
        for end, token in enumerate(tokens[start:], start=start + 1):
            text += token.word
            if len(text) > longest:
                break
            is_exact = len(text) == 1 or text in STOP_WORDS
            for phrase, value in phrases.get(text, ()) if token.word else ():
                if not is_exact or first.text == phrase:
                    yield _Span(start, end, value)


def _put_slots(
    tokens: Sequence[QuestionToken], slots: Mapping[str, Sequence[_Span]]
) -> Iterator[tuple[list[QuestionToken], dict[str, str]]]:
    """The tokens with the parameters in place of values that they may have, and these values."""
    if prod(map(len, slots.values())) > _MOST_ASSIGNMENTS:
        return
    for chosen in product(*slots.values()):
        spans = dict(zip(slots, chosen, strict=True))
        if any(one.end > other.start for one, other in pairwise(sorted(chosen))):
            continue
        put = list(tokens)
        for slot, span in sorted(spans.items(), key=lambda pair: -pair[1].start):
            put[span.start : span.end] = [QuestionToken(slot=slot)]
        yield put, {slot: span.value for slot, span in spans.items()}


# -- comparing -----------------------------------------------------------------------------------


def _is_same(asked: Reading, wanted: Reading, schema_words: Collection[str]) -> bool:
    """Whether both have the same parameters, and the same words in the same order."""
    has_forms = asked.did or wanted.did
    return (
        asked.slots == wanted.slots
        and len(asked.words) == len(wanted.words)
        and all(
            word == other or _is_alike(word, other, has_forms, schema_words)
            for word, other in zip(asked.words, wanted.words, strict=True)
        )
    )


def _is_alike(word: str, other: str, has_forms: bool, schema_words: Collection[str]) -> bool:
    """Whether a word of a question means one of a phrasing.

    "Place" is a form of "placed" only in a question with "did": "open tickets" are not those that
    were opened. Words of counting, comparing and time, and amounts that differ in accounting, have
    no synonyms.
    """
    short, long = sorted((word, other), key=len)
    if has_forms and long in (short + ending for ending in _ENDINGS):
        return True
    if word in schema_words or {word, other} & _WITHOUT_SYNONYMS:
        return False
    return other in {fold_text(related) for related in related_words(word)}
