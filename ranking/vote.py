"""The vote: candidates with equivalent results vote together, each with its samples.

A group's weight is the number of its samples, halved when its result says nothing (no rows, or one
row of zeros and NULLs), since a wrong condition finds nothing more often than a right one does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from nl2sql.equivalence import are_equivalent
from nl2sql.intervals import wilson_interval
from nl2sql.types import Assessment, Ranking, ResultSet

_NOTHING_WEIGHT = 0.5


def vote(assessments: Sequence[Assessment], samples: int) -> Ranking:
    """The ranking: groups by weight, then score, then estimated cost; failures last.

    ``samples`` is how many completions were asked for, the denominator of the agreement.
    """
    grouped = _group(assessments)
    votes: dict[int, int] = {}
    for each in grouped:
        if each.group >= 0:
            votes[each.group] = votes.get(each.group, 0) + each.candidate.samples
    counted = [replace(each, votes=votes.get(each.group, 0)) for each in grouped]
    ordered = tuple(sorted(counted, key=_rank_key))
    agreeing = ordered[0].votes if ordered and ordered[0].result is not None else 0
    return Ranking(
        assessments=ordered,
        samples=samples,
        confidence=round(wilson_interval(agreeing, samples)[0], 4),
        quorum=agreeing >= 2 and agreeing * 2 > samples,
    )


def _group(assessments: Sequence[Assessment]) -> list[Assessment]:
    """Numbers equivalent results from 0; what has no result keeps -1."""
    representatives: list[ResultSet] = []
    grouped = []
    for each in assessments:
        group = -1 if each.result is None else _find_group(each.result, representatives)
        grouped.append(replace(each, group=group))
    return grouped


def _find_group(result: ResultSet, representatives: list[ResultSet]) -> int:
    for number, other in enumerate(representatives):
        if are_equivalent(result.rows, other.rows):
            return number
    representatives.append(result)
    return len(representatives) - 1


def _rank_key(each: Assessment) -> tuple[bool, float, float, float, str]:
    weight = each.votes * (_NOTHING_WEIGHT if _says_nothing(each.result) else 1.0)
    cost = each.explained.cost if each.explained else math.inf
    return (each.result is None, -weight, -each.score.total, cost, each.candidate.id)


def _says_nothing(result: ResultSet | None) -> bool:
    """True for no rows, and for one row that holds nothing but zeros and NULLs."""
    if result is None:
        return False
    return len(result.rows) <= 1 and not any(any(row) for row in result.rows)
