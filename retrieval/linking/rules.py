"""Links by rules: compares the question with the words of names, comments and glosses.

A column's score is the share of its name's words that the question contains. Words that occur in
every schema (``id``, ``name``) weigh little, and alone they link only columns of a linked table.
Further links come from comments and glosses, from a date in the question to the date columns of
linked tables, from values that search found in a column, and from definitions that read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nl2sql.catalog import Column, Table
from nl2sql.languages.english import TIME_WORDS
from nl2sql.sql.column_kinds import TIMES, find_kind
from nl2sql.types import Definition, SchemaContext, SchemaLink, ValueMatch
from nl2sql.words import split_words
from retrieval.linking.words import (
    NearWord,
    read_compact,
    read_name,
    read_prose,
    read_question,
)

_MOST_LINKS = 32
_MIN_SCORE = 0.4
# Words in the names of so many columns that they identify none.
_GENERIC = frozenset({"id", "no", "code", "key", "number", "type", "date", "name", "status"})
_GENERIC_WEIGHT = 0.4
# Factors for scores that do not come from the name.
_GLOSS_TRUST = 0.9
_COMMENT_TRUST = 0.8
_VALUE_TRUST = 0.95
_DESCRIBED_WORD = 0.25
# The weight of the last word of a table's name; that of the others is 1.
_LAST_WORD_WEIGHT = 1.5
# Factors for a column's score if its table is not linked, and if the question means its target.
_LONE_COLUMN = 0.8
_REFERENCE = 0.6
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
# A gloss contains marks such as [DATE] besides its phrases.
_HINT = re.compile(r"\[[^\]]*\]")
_PHRASE_END = re.compile(r"[;,.()/|:]|\bor\b")


@dataclass(frozen=True, slots=True)
class _WordMatch:
    """The result of one rule: the matching words, a score and the rule's name."""

    words: tuple[str, ...]
    score: float
    method: str


_NOTHING = _WordMatch((), 0.0, "name")


def link_by_rules(question: str, context: SchemaContext) -> tuple[SchemaLink, ...]:
    """At most 32 links, best first; of equal scores, those of the better ranked table first."""
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
    rules = _Rules(question_words.words, near, glosses, mentions_time(question), context.dialect)
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
        links += [(rank, link) for link in _link_definitions(hit.table, context.definitions)]
    links.sort(key=lambda pair: (-pair[1].score, pair[0], pair[1].column))
    best: dict[tuple[str, str], SchemaLink] = {}
    for _, link in links:
        best.setdefault((link.table, link.column), link)
    return tuple(best.values())[:_MOST_LINKS]


def _link_values(table: Table, values: Sequence[ValueMatch]) -> Iterator[SchemaLink]:
    """Links to the table's visible columns that contain a value of the question."""
    for match in values:
        if match.table == table.qualified and table.column(match.column) is not None:
            score = round(match.score * _VALUE_TRUST, 3)
            yield SchemaLink(match.phrase, match.table, match.column, score, "value")


def _link_definitions(table: Table, definitions: Sequence[Definition]) -> Iterator[SchemaLink]:
    """Links to the tables and columns that the definitions read."""
    for definition in definitions:
        if table.qualified not in definition.tables:
            continue
        yield SchemaLink(definition.phrase, table.qualified, "", 1.0, "definition")
        for name in definition.columns:
            owner, _, column = name.rpartition(".")
            if owner == table.qualified:
                yield SchemaLink(definition.phrase, owner, column, 1.0, "definition")


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules, applied to one table after the other; ``words`` are the question's."""

    words: Mapping[str, str]
    near: Mapping[str, NearWord]
    glosses: Mapping[str, str]
    time: str
    dialect: str

    def link_table(self, table: Table) -> _WordMatch:
        """The match of the question with the table's name, comment and gloss."""
        own = read_name(table.name)
        return self._best(
            self._by_name(table.name, frozenset(), last=_LAST_WORD_WEIGHT),
            own,
            table.comment,
            self.glosses.get(table.qualified, ""),
        )

    def link(
        self,
        table: Table,
        whole: _WordMatch,
        references: Mapping[tuple[str, str], str],
        named: Mapping[str, frozenset[str]],
    ) -> list[SchemaLink]:
        """The links of the table, whose own match is ``whole``, and of its columns."""
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
            elif self.time and whole.score >= _MIN_SCORE and is_time(column, self.dialect):
                links.append(SchemaLink(self.time, table.qualified, column.name, 0.4, "type"))
        return links

    def _link_column(
        self, table: Table, column: Column, around: frozenset[str], whole: float
    ) -> _WordMatch:
        words = read_name(column.name)
        gloss = self.glosses.get(f"{table.qualified}.{column.name}", "")
        comment = column.comment
        # A fast check first, because most columns do not match a question at all.
        asked = self.words.keys()
        if gloss and asked.isdisjoint(read_prose(gloss)):
            gloss = ""
        if comment and asked.isdisjoint(read_prose(comment)):
            comment = ""
        is_named = any(word in self.words or word in self.near for word in words)
        is_named = is_named or read_compact(column.name) in self.words
        if not (is_named or gloss or comment):
            return _NOTHING
        by_name = self._by_name(column.name, around) if is_named else _NOTHING
        if by_name.words and all(_is_generic(word) for word in by_name.words):
            # "name" alone means the name of a table that the question mentions.
            by_name = replace(by_name, score=by_name.score * whole)
        if not comment and not gloss:
            return by_name
        return self._best(by_name, words, comment, gloss)

    def _by_name(self, name: str, around: frozenset[str], *, last: float = 1.0) -> _WordMatch:
        """The share of the name's words in the question; ``around`` are the table's words.

        ``last`` is the weight of the last word: in a table's name it says what the rows are.
        """
        words = read_name(name)
        compact = read_compact(name)
        if compact in self.words and compact not in words:
            return _WordMatch((compact,), 1.0, "name")
        own = tuple(word for word in words if word not in around) or words
        total = got = 0.0
        shared = []
        method = "name"
        for word in own:
            weight = _GENERIC_WEIGHT if _is_generic(word) else 1.0
            if word == own[-1]:
                weight *= last
            total += weight
            if word in self.words:
                shared.append(word)
                got += weight
            elif word in self.near:
                shared.append(word)
                got += weight * self.near[word].similarity
                method = self.near[word].method
        if not shared:
            return _NOTHING
        return _WordMatch(tuple(shared), got / total, method)

    def _best(
        self, by_name: _WordMatch, own: tuple[str, ...], comment: str, gloss: str
    ) -> _WordMatch:
        """The best match by name, gloss or comment; a comment adds to the score of the others."""
        best = by_name
        if gloss:
            by_gloss = self._by_gloss(own, gloss)
            if by_gloss.score > best.score:
                best = by_gloss
        if comment:
            described = tuple(sorted(read_prose(comment) & self.words.keys() - _GENERIC - set(own)))
            if described:
                added = min(_COMMENT_TRUST, _DESCRIBED_WORD * len(described))
                if best.score >= _MIN_SCORE:
                    best = _WordMatch(best.words, min(1.0, best.score + added / 2), best.method)
                else:
                    words = (*best.words, *described)
                    best = _WordMatch(words, min(_COMMENT_TRUST, best.score + added), "comment")
        return best

    def _by_gloss(self, own: tuple[str, ...], gloss: str) -> _WordMatch:
        """The match of the gloss's best phrase."""
        best = _NOTHING
        for phrase in _PHRASE_END.split(_HINT.sub(" ", gloss)):
            words = read_prose(phrase)
            shared = words & self.words.keys()
            if shared and not all(map(_is_generic, shared)) and not shared <= set(own):
                score = _GLOSS_TRUST * len(shared) / len(words)
                if score > best.score:
                    best = _WordMatch(tuple(sorted(shared)), score, "synonym")
        return best

    def _spell(self, word: str) -> str:
        """The word as the question spells it."""
        if word in self.words:
            return self.words[word]
        return self.near[word].text if word in self.near else word

    def _build(self, table: Table, column: str, found: _WordMatch) -> SchemaLink:
        texts = [self._spell(word) for word in found.words]
        phrase = " ".join(dict.fromkeys(texts))
        return SchemaLink(phrase, table.qualified, column, round(found.score, 3), found.method)


def mentions_time(question: str) -> str:
    """The year or time word in a question; empty if it has none.

    >>> mentions_time("Orders in 2024"), mentions_time("Who was the latest?"), mentions_time("All")
    ('2024', 'latest', '')
    """
    if year := _YEAR.search(question):
        return year.group()
    return next((word for word in split_words(question) if word in TIME_WORDS), "")


def is_time(column: Column, dialect: str) -> bool:
    """Whether a column holds dates or times, by its type or a word of its name.

    >>> [is_time(Column(name, type_), "postgres") for name, type_ in (
    ...     ("placed_at", "timestamp"), ("Birth_Year", "int"), ("state", "update_status"))]
    [True, True, False]
    """
    words = read_name(column.name)
    return find_kind(column.type, dialect) in TIMES or not TIME_WORDS.isdisjoint(words)


def _is_generic(word: str) -> bool:
    return word in _GENERIC or word.isdigit()
