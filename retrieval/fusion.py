"""Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009), with their k = 60."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

RRF_K = 60


def fuse_rankings(rankings: Iterable[Sequence[str]], k: int = RRF_K) -> dict[str, float]:
    """Item → sum over all rankings of 1 / (k + rank), best first; ranks count from 1.

    >>> list(fuse_rankings([["a", "b"], ["b", "c"]]))
    ['b', 'a', 'c']
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))
