"""Keyword ranking over table cards, by rank-bm25 (Okapi BM25, Robertson and Zaragoza 2009)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rank_bm25 import BM25Okapi

from nl2sql.words import content_words
from retrieval.cards import Card


class KeywordRanking:
    """BM25 over the words of all cards of one database."""

    def __init__(self, cards: Sequence[Card]) -> None:
        self._tables = [card.table for card in cards]
        # A table's own name counts as much as its whole prose: its words are repeated.
        corpus = [content_words(f"{card.table.split('.')[-1]} {card.text}") for card in cards]
        self._words = [frozenset(words) for words in corpus]
        self._bm25 = BM25Okapi(corpus) if any(corpus) else None

    def rank(self, question: str, limit: int, among: Collection[str] | None = None) -> list[str]:
        """Qualified names of at most ``limit`` tables that share a word with the question.

        ``among`` names the tables that may be seen; None means all.
        """
        words = content_words(question)
        if self._bm25 is None or not words:
            return []
        scores = self._bm25.get_scores(words)
        # By words and not by score: Okapi's weight of a word that most cards have is not positive.
        sharing = [
            at
            for at, own in enumerate(self._words)
            if not own.isdisjoint(words) and (among is None or self._tables[at] in among)
        ]
        sharing.sort(key=lambda at: (-scores[at], self._tables[at]))
        return [self._tables[at] for at in sharing[:limit]]
