"""Keyword search: the words of a question and of its draft query, BM25, and the fusion of rankings.

BM25 is computed by bm25s (Lù 2024) at indexing time in sparse columns. A question reads only the
documents that contain its words: for 100,000 documents of 40 words, rank-bm25 took 166 ms, this
takes 0.5 ms. The variant is Lucene's, in which all weights are positive. Rankings are fused by
reciprocal rank (Cormack, Clarke and Buettcher, SIGIR 2009), with their k = 60.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Catalog
from nl2sql.sql.parsing import parse_one
from nl2sql.words import content_words
from retrieval.vocabulary.terms import related_words

_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")


@dataclass(frozen=True, slots=True)
class Keywords:
    """``own`` words of the question, and ``related`` words, which have less weight."""

    own: tuple[str, ...]
    related: tuple[str, ...]


def read_words(*texts: str) -> Keywords:
    """The distinct folded words of all texts; of a date also as names of tables have it.

    >>> read_words("Which vocalists sing?").own
    ('vocalist', 'sing')
    >>> read_words("Visits on 2017-07-30").own
    ('visit', '2017', '07', '30', '20170730', '201707')
    """
    words = [word for text in texts for word in content_words(text)]
    for year, month, day in _DATE.findall(" ".join(texts)):
        words += (f"{year}{month}{day}", f"{year}{month}")
    own = tuple(dict.fromkeys(words))
    related = {other for word in own for other in related_words(word)}
    return Keywords(own, tuple(sorted(related - set(own))))


@dataclass(frozen=True, slots=True)
class DraftNames:
    """Qualified names of existing tables, and all names of tables and columns as text."""

    tables: tuple[str, ...] = ()
    words: str = ""


def read_draft(draft: str, catalog: Catalog, shared: Iterable[str] = ()) -> DraftNames:
    """The names in ``draft`` that ``catalog`` contains; none if it cannot be parsed.

    ``shared`` are qualified names, in which tables outside the search path are looked up.

    >>> from nl2sql.catalog import Table
    >>> shop = Catalog("shop", (Table("sales", "orders", ()),), search_path=("sales",))
    >>> read_draft("SELECT total FROM orders o", shop)
    DraftNames(tables=('sales.orders',), words='orders total')
    """
    if not draft.strip():
        return DraftNames()
    try:
        tree = parse_one(draft, catalog.dialect)
    except (SqlglotError, RecursionError):
        return DraftNames()
    found: dict[str, None] = {}
    words: dict[str, None] = {}
    for node in tree.find_all(exp.Table):
        words[node.name] = None
        table = catalog.resolve(node.name, node.db)
        if table is not None:
            found[table.qualified] = None
        elif not node.db:
            # Outside the search path only tables that search has found are considered.
            tables = filter(None, map(catalog.table, shared))
            named = (each for each in tables if each.name.lower() == node.name.lower())
            found.update((each.qualified, None) for each in list(named)[:1])
    for column in tree.find_all(exp.Column):
        words[column.name] = None
    return DraftNames(tuple(found), " ".join(word for word in words if word))


if TYPE_CHECKING:
    import bm25s


Scores = NDArray[np.float32]


class KeywordIndex:
    """BM25 over documents that are lists of words."""

    def __init__(self, documents: Sequence[Sequence[str]], *, b: float = 0.75) -> None:
        """``b`` is the strength of length normalisation, from 0 to 1."""
        self._size = len(documents)
        self._bm25: bm25s.BM25 | None = None
        if any(documents):
            # Imported here because it loads numba. vLLM's processes import the command line again
            # and cannot start with numba loaded (vLLM 0.32 inspects every module's attributes).
            import bm25s

            # bm25s sets its logger to DEBUG and would log every index that is built.
            logging.getLogger("bm25s").setLevel(logging.WARNING)
            self._bm25 = bm25s.BM25(method="lucene", k1=1.5, b=b)
            self._bm25.index([list(words) for words in documents], show_progress=False)

    def score(self, words: Sequence[str]) -> Scores:
        """A score for each document; 0 if it contains none of the words.

        >>> KeywordIndex([["order"], ["order", "line"], ["customer"]]).score(["line"]).argmax()
        np.int64(1)
        """
        if self._bm25 is None or not words:
            return np.zeros(self._size, dtype=np.float32)
        return np.asarray(self._bm25.get_scores(list(words)), dtype=np.float32)


def rank_scores(scores: Scores, limit: int) -> list[int]:
    """Positions of at most ``limit`` positive scores, best first; ties in order of position.

    >>> rank_scores(np.array([0, 2, 3, 2], dtype=np.float32), 2)
    [2, 1]
    """
    found = np.flatnonzero(scores > 0)
    if len(found) > limit:
        floor = np.partition(scores[found], -limit)[-limit]
        found = found[scores[found] >= floor]
    order = np.argsort(-scores[found], kind="stable")[:limit]
    return [int(at) for at in found[order]]


_RRF_K = 60

_Item = TypeVar("_Item", bound=Hashable)


def fuse_rankings(rankings: Iterable[tuple[float, Sequence[_Item]]]) -> dict[_Item, float]:
    """Item → sum over all (weight, ranking) of weight / (60 + rank), best first; ranks from 1.

    Ties keep the order of their first ranking.

    >>> list(fuse_rankings([(1.0, ["a", "b"]), (1.0, ["b", "c"])]))
    ['b', 'a', 'c']
    """
    scores: dict[_Item, float] = {}
    for weight, ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + weight / (_RRF_K + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))
