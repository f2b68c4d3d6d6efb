"""Whether another sample is worth its time."""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.settings.ranking import RankingSettings
from nl2sql.types import Assessment
from ranking.vote.weights import says_nothing, weigh_sample


def is_settled(
    ordered: Sequence[Assessment], samples: int, most_samples: int, settings: RankingSettings
) -> bool:
    """True when the rest could not overturn the lead, or so many agree that it would hardly.

    ``ordered`` are the candidates best first, after ``samples`` of at most ``most_samples``. The
    rest could all be for the second group, or for a new one, each sample with the largest weight
    seen so far. A lead that says nothing is not taken for clear.
    """
    first = ordered[0]
    clear = first.votes >= 2 and first.votes >= settings.settle_agreement * samples
    if clear and not says_nothing(first.result):
        return True
    second = max((each.weight for each in ordered if each.group != first.group), default=0.0)
    largest = max((1.0, *(weigh_sample(each, settings) for each in ordered)))
    return first.weight - second > max(0, most_samples - samples) * largest
