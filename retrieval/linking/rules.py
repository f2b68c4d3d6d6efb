"""Links by rule: the words of names, comments and glosses that a question holds.

A column's score is the share of its name's words that the question has, where words that stand in
every schema (``id``, ``name``) weigh little and alone link only a column of a table that is itself
linked. Comments and glosses link what the name does not, a date in the question the dates of linked
tables, and a value that search found in a column that column. No model is asked, no cell is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nl2sql.catalog import Column, Table
from nl2sql.types import SchemaContext, SchemaLink, ValueMatch
from nl2sql.words import split_words
from retrieval.linking.question_words import (
    Near,
    QuestionWords,
    read_compact,
    read_name,
    read_prose,
    read_question,
)

_MOST_LINKS = 32
_MIN_SCORE = 0.4
# Words that stand in almost every key or flag of a schema and so identify no column.
_GENERIC = frozenset({"id", "no", "code", "key", "number", "type", "date", "name", "status"})
_GENERIC_WEIGHT = 0.4
# What a score is worth that comes from elsewhere than the name.
_GLOSS_TRUST = 0.9
_COMMENT_TRUST = 0.8
_VALUE_TRUST = 0.95
_DESCRIBED_WORD = 0.25
# The last word of a table's name against each of the others.
_LAST_WORD_WEIGHT = 1.5
# What is left of a column's score where nothing links its table, or its target says the same.
_LONE_COLUMN = 0.8
_REFERENCE = 0.6
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_TIME_WORDS = frozenset("date day month quarter week year when latest earliest recent".split())
_TIME_TYPE = re.compile(r"date|time", re.IGNORECASE)
# A gloss holds hints such as [DATE] besides its phrases.
_HINT = re.compile(r"\[[^\]]*\]")
_PHRASE_END = re.compile(r"[;,.()/|:]|\bor\b")


@dataclass(frozen=True, slots=True)
class _Found:
    """What one rule found: the words of the question, a score and the rule's name."""

    words: tuple[str, ...]
    score: float
    method: str


_NOTHING = _Found((), 0.0, "name")


def link_by_rules(question: str, context: SchemaContext) -> tuple[SchemaLink, ...]:
    """At most 32 links, best first; of equal ones, those of the better ranked table."""
    question_words = read_question(question)
    glosses: dict[str, str] = {}
    for name, text in context.glosses:
        glosses[name] = f"{glosses[name]}; {text}" if name in glosses else text
    near = question_words.find_near(
        word
        for hit in context.tables
        for name in (hit.table.name, *(column.name for column in hit.table.columns))
        for word in read_name(name)
    )
    rules = _Rules(question_words, near, glosses, mentions_time(question))
    references = {
        (key.table, column): key.target
        for key in context.foreign_keys
        for column in key.columns
        if key.table != key.target
    }
    wholes = [rules.link_table(hit.table) for hit in context.tables]
    named = {
        hit.table.qualified: frozenset(whole.words)
        for hit, whole in zip(context.tables, wholes, strict=True)
        if whole.score >= _MIN_SCORE
    }
    links = []
    for rank, (hit, whole) in enumerate(zip(context.tables, wholes, strict=True)):
        links += [(rank, link) for link in rules.link(hit.table, whole, references, named)]
        links += [(rank, link) for link in _link_values(hit.table, context.values)]
    links.sort(key=lambda pair: (-pair[1].score, pair[0], pair[1].column))
    best: dict[tuple[str, str], SchemaLink] = {}
    for _, link in links:
        best.setdefault((link.table, link.column), link)
    return tuple(best.values())[:_MOST_LINKS]


def _link_values(table: Table, values: Sequence[ValueMatch]) -> Iterator[SchemaLink]:
    """The columns of the table, as far as it is shown, in which a value of the question stands."""
    for match in values:
        if match.table == table.qualified and table.column(match.column) is not None:
            score = round(match.score * _VALUE_TRUST, 3)
            yield SchemaLink(match.phrase, match.table, match.column, score, "value")


class _Rules:
    """The rules, applied to one table after the other."""

    def __init__(
        self,
        question_words: QuestionWords,
        near: Mapping[str, Near],
        glosses: Mapping[str, str],
        time: str,
    ) -> None:
        self._question = question_words
        self._near = near
        self._glosses = glosses
        self._time = time
        self._words = frozenset(question_words.words)
        self._known = self._words | frozenset(near)

    def link_table(self, table: Table) -> _Found:
        """What the question says of the table as a whole."""
        own = read_name(table.name)
        return self._best(
            self._by_name(table.name, frozenset(), last=_LAST_WORD_WEIGHT),
            own,
            table.comment,
            self._glosses.get(table.qualified, ""),
        )

    def link(
        self,
        table: Table,
        whole: _Found,
        references: Mapping[tuple[str, str], str],
        named: Mapping[str, frozenset[str]],
    ) -> list[SchemaLink]:
        """The links of the table, found as ``whole``, and of its columns."""
        links = [self._build(table, "", whole)] if whole.score >= _MIN_SCORE else []
        around = frozenset(read_name(table.name))
        support = _LONE_COLUMN + (1 - _LONE_COLUMN) * whole.score
        for column in table.columns:
            found = self._link_column(table, column, around, whole.score)
            score = found.score * support
            if score >= _MIN_SCORE:
                target = references.get((table.qualified, column.name), "")
                if named.get(target, frozenset()).issuperset(found.words):
                    # The question means the table that the column refers to.
                    score *= _REFERENCE
            if score >= _MIN_SCORE:
                links.append(self._build(table, column.name, replace(found, score=score)))
            elif self._time and whole.score >= _MIN_SCORE and is_time(column):
                links.append(SchemaLink(self._time, table.qualified, column.name, 0.4, "type"))
        return links

    def _link_column(
        self, table: Table, column: Column, around: frozenset[str], whole: float
    ) -> _Found:
        words = read_name(column.name)
        gloss = self._glosses.get(f"{table.qualified}.{column.name}", "")
        comment = column.comment
        # Most columns have nothing to do with a question, and this is all that they cost.
        if gloss and self._words.isdisjoint(read_prose(gloss)):
            gloss = ""
        if comment and self._words.isdisjoint(read_prose(comment)):
            comment = ""
        is_named = not self._known.isdisjoint(words) or read_compact(column.name) in self._words
        if not (is_named or gloss or comment):
            return _NOTHING
        by_name = self._by_name(column.name, around) if is_named else _NOTHING
        if by_name.words and all(_is_generic(word) for word in by_name.words):
            # "Name" alone is the name of something: of the table, if the question names that.
            by_name = replace(by_name, score=by_name.score * whole)
        if not comment and not gloss:
            return by_name
        return self._best(by_name, words, comment, gloss)

    def _by_name(self, name: str, around: frozenset[str], *, last: float = 1.0) -> _Found:
        """The share of the name's words that the question has; ``around`` are the table's words.

        The ``last`` word of a table's name says what its rows are, and so weighs more.
        """
        words = read_name(name)
        compact = read_compact(name)
        if compact in self._words and compact not in words:
            return _Found((compact,), 1.0, "name")
        own = tuple(word for word in words if word not in around) or words
        total = got = 0.0
        shared = []
        method = "name"
        for word in own:
            weight = _GENERIC_WEIGHT if _is_generic(word) else 1.0
            if word == own[-1]:
                weight *= last
            total += weight
            if word in self._words:
                shared.append(word)
                got += weight
            elif word in self._near:
                shared.append(word)
                got += weight * self._near[word].similarity
                method = self._near[word].method
        if not shared:
            return _NOTHING
        return _Found(tuple(shared), got / total, method)

    def _best(self, by_name: _Found, own: tuple[str, ...], comment: str, gloss: str) -> _Found:
        """By name, by gloss or by comment, whichever says most; a comment adds to a name."""
        best = by_name
        if gloss:
            by_gloss = self._by_gloss(own, gloss)
            if by_gloss.score > best.score:
                best = by_gloss
        if comment:
            described = tuple(sorted(read_prose(comment) & self._words - _GENERIC - set(own)))
            if described:
                added = min(_COMMENT_TRUST, _DESCRIBED_WORD * len(described))
                if best.score >= _MIN_SCORE:
                    best = _Found(best.words, min(1.0, best.score + added / 2), best.method)
                else:
                    words = (*best.words, *described)
                    best = _Found(words, min(_COMMENT_TRUST, best.score + added), "comment")
        return best

    def _by_gloss(self, own: tuple[str, ...], gloss: str) -> _Found:
        """The phrase of the gloss that the question holds most of."""
        best = _NOTHING
        for phrase in _PHRASE_END.split(_HINT.sub(" ", gloss)):
            words = read_prose(phrase)
            shared = words & self._words
            if shared and not all(map(_is_generic, shared)) and not shared <= set(own):
                score = _GLOSS_TRUST * len(shared) / len(words)
                if score > best.score:
                    best = _Found(tuple(sorted(shared)), score, "synonym")
        return best

    def _spell(self, word: str) -> str:
        """The word as the question has it."""
        if word in self._words:
            return self._question.words[word]
        return self._near[word].text if word in self._near else word

    def _build(self, table: Table, column: str, found: _Found) -> SchemaLink:
        texts = [self._spell(word) for word in found.words]
        phrase = " ".join(dict.fromkeys(texts))
        return SchemaLink(phrase, table.qualified, column, round(found.score, 3), found.method)


def mentions_time(question: str) -> str:
    """The year or the word of time in a question; empty where it has none.

    >>> mentions_time("Orders in 2024"), mentions_time("Who was the latest?"), mentions_time("All")
    ('2024', 'latest', '')
    """
    if year := _YEAR.search(question):
        return year.group()
    return next((word for word in split_words(question) if word in _TIME_WORDS), "")


def is_time(column: Column) -> bool:
    """True for a column of dates: by its type, or where types say little, by its name.

    >>> is_time(Column("placed_at", "timestamp")), is_time(Column("Birth_Year", "int"))
    (True, True)
    """
    return bool(_TIME_TYPE.search(column.type)) or not _TIME_WORDS.isdisjoint(
        read_name(column.name)
    )


def _is_generic(word: str) -> bool:
    return word in _GENERIC or word.isdigit()
