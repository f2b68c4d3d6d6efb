"""Decides whether another sample is worth its time."""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.settings.ranking import RankingSettings
from nl2sql.types import Assessment
from ranking.vote.weights import says_nothing, weigh_sample


def is_settled(
    ordered: Sequence[Assessment], samples: int, most_samples: int, settings: RankingSettings
) -> bool:
    """True if more samples cannot change the leader, or so many agree that they hardly can.

    ``ordered`` are the candidates best first, after ``samples`` of at most ``most_samples``. The
    rest could all join the second group or a new one, each sample with the largest weight so far.
    Agreement on an uninformative result does not settle it.
    """
    first = ordered[0]
    clear = first.votes >= 2 and first.votes >= settings.settle_agreement * samples
    if clear and not says_nothing(first.result):
        return True
    second = max(
        (assessment.weight for assessment in ordered if assessment.group != first.group),
        default=0.0,
    )
    largest = max((1.0, *(weigh_sample(assessment) for assessment in ordered)))
    return first.weight - second > max(0, most_samples - samples) * largest
