"""Finds tables by the words of their names: those that a question names, and those of a kind.

A name is compared as a set of folded words with abbreviations expanded. Many schemas may have a
table of the same name; then the name says less about each of them. Tables are numbers here:
positions in the visible catalog.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt

from nl2sql.catalog import Table
from nl2sql.words import fold_plural, split_words
from retrieval.search.keywords import Keywords
from retrieval.vocabulary.terms import BusinessTerm, expand_words, related_words

# A related word (client for customer) counts less than the word itself.
_RELATED = 0.8
# Names that are less similar to a kind of table than this are of another kind.
_LEAST_SIMILAR = 0.5
# A term's last kind of table counts half as much as its first.
_LAST_KIND = 0.5
# How much one term can add: tables that two terms mean rank above those of one.
_MOST_FROM_ONE = 0.8

Name = frozenset[str]


class TableNames:
    """The names of the tables of one visible catalog."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables: dict[Name, list[int]] = {}
        self._names_with: dict[str, set[Name]] = {}
        self._schemas = [frozenset(split_words(table.schema)) for table in tables]
        for number, table in enumerate(tables):
            words = expand_words(split_words(table.name))
            name = frozenset(fold_plural(word) for word in words)
            self._tables.setdefault(name, []).append(number)
            for word in name:
                self._names_with.setdefault(word, set()).add(name)

    def find_named(self, words: Keywords) -> dict[int, float]:
        """Table → how well the question names it, from 0 to 1; all words of its name must occur."""
        own = frozenset(words.own)
        weights = dict.fromkeys(words.related, _RELATED) | dict.fromkeys(own, 1.0)
        return {
            table: sum(weights[word] for word in name) / len(name) / sqrt(len(self._tables[name]))
            for name in self._list_names(weights)
            if name and name <= weights.keys()
            for table in self._tables[name]
        }

    def find_meant(self, terms: Iterable[BusinessTerm]) -> dict[int, float]:
        """Table → how well its name fits the business terms, from 0 to 1."""
        missing: dict[int, float] = {}
        for term in terms:
            best: dict[int, float] = {}
            for place, kind in enumerate(term.tables):
                trust = 1 - (1 - _LAST_KIND) * place / len(term.tables)
                for table, similarity in self._find_kind(frozenset(kind)).items():
                    best[table] = max(best.get(table, 0.0), trust * similarity)
            for table, weight in best.items():
                missing[table] = missing.get(table, 1.0) * (1 - _MOST_FROM_ONE * weight)
        return {table: 1 - share for table, share in missing.items()}

    def _find_kind(self, kind: Name) -> Mapping[int, float]:
        """Table → the similarity of its name to ``kind``, if it is similar enough.

        The words of a table's schema count as its own, but need not be in ``kind``.
        """
        related = {word: related_words(word) for word in kind}
        found: dict[int, float] = {}
        for name in self._list_names(
            {*kind, *(other for near in related.values() for other in near)}
        ):
            shared = {
                word: 1.0 if word in name else _RELATED
                for word in kind
                if word in name or not related[word].isdisjoint(name)
            }
            got = sum(shared.values())
            for table in self._tables[name]:
                wanted = len(shared) + len(kind - shared.keys() - self._schemas[table])
                similarity = got * got / (wanted * len(name)) if wanted else 0.0
                if similarity >= _LEAST_SIMILAR:
                    found[table] = min(1.0, similarity) / sqrt(len(self._tables[name]))
        return found

    def _list_names(self, words: Iterable[str]) -> list[Name]:
        """The names with at least one of the words, in the order of their tables."""
        found = {name for word in words for name in self._names_with.get(word, ())}
        return sorted(found, key=self._tables.__getitem__)
