"""The vote: candidates with equivalent results vote together, each with its samples.

What a sample weighs is a product of named factors (``weights``), so that a result that says nothing
or a low score counts less. Knows nothing of databases: what has run has run (``polling``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from nl2sql.intervals import wilson_interval
from nl2sql.settings.ranking import RankingSettings
from nl2sql.types import Assessment, Ranking
from ranking.vote.groups import group_assessments
from ranking.vote.settlement import is_settled
from ranking.vote.weights import weigh_sample

# Whether a candidate may win: what ran or may still be run; what must not run; what is wrong.
_ALIVE, _FORBIDDEN, _FAILED = range(3)


def vote(
    assessments: Sequence[Assessment],
    samples: int,
    settings: RankingSettings,
    *,
    most_samples: int = 0,
) -> Ranking:
    """The ranking: groups by weight, then score, log-probability, estimated cost; failures last.

    ``samples`` is how many completions were drawn, the denominator of the agreement;
    ``most_samples`` how many there may be in the end.
    """
    grouped = group_assessments(assessments)
    votes: dict[int, int] = {}
    weights: dict[int, float] = {}
    for each in grouped:
        count, factor = each.candidate.samples, weigh_sample(each, settings)
        votes[each.group] = votes.get(each.group, 0) + count
        weights[each.group] = weights.get(each.group, 0.0) + count * factor
    counted = [
        each
        if each.group < 0
        else replace(each, votes=votes[each.group], weight=round(weights[each.group], 6))
        for each in grouped
    ]
    ordered = tuple(sorted(counted, key=_rank_key))
    leads = bool(ordered) and _find_class(ordered[0]) == _ALIVE
    agreeing = ordered[0].votes if leads else 0
    quorum = agreeing >= 2 and agreeing * 2 > samples
    return Ranking(
        assessments=ordered,
        samples=samples,
        confidence=round(wilson_interval(agreeing, samples)[0], 4) if agreeing else 0.0,
        quorum=quorum,
        settled=is_settled(ordered, samples, most_samples, settings) if leads else False,
    )


def _find_class(each: Assessment) -> int:
    if each.unrun == "estimate":
        return _FORBIDDEN
    return _FAILED if each.failed else _ALIVE


def _rank_key(each: Assessment) -> tuple[int, float, bool, float, float, float, str]:
    logprob = each.candidate.logprob
    return (
        _find_class(each),
        -each.weight,
        each.result is None,
        -each.score.total,
        math.inf if logprob is None else -logprob,
        each.explained.cost if each.explained else math.inf,
        each.candidate.id,
    )
