"""Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009), with their k = 60."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

RRF_K = 60

_Item = TypeVar("_Item", bound=Hashable)


def fuse_rankings(
    rankings: Iterable[tuple[float, Sequence[_Item]]], k: int = RRF_K
) -> dict[_Item, float]:
    """Item → sum over all (weight, ranking) of weight / (k + rank), best first; ranks from 1.

    Ties keep the order of their first ranking.

    >>> list(fuse_rankings([(1.0, ["a", "b"]), (1.0, ["b", "c"])]))
    ['b', 'a', 'c']
    """
    scores: dict[_Item, float] = {}
    for weight, ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))
