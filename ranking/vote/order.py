"""The vote: candidates with equivalent results vote together, each with its samples.

A sample of a candidate with a low score weighs less (``weights``). Knows nothing of databases:
``polling`` runs the candidates before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from nl2sql.intervals import wilson_interval
from nl2sql.settings.ranking import RankingSettings
from nl2sql.types import Assessment, Ranking
from ranking.vote.early_stop import is_settled
from ranking.vote.groups import group_assessments
from ranking.vote.weights import weigh_groups

# The classes of candidates, best first: those that ran or may be run, must not run, are wrong.
_ALIVE, _FORBIDDEN, _FAILED = range(3)


def vote(
    assessments: Sequence[Assessment],
    samples: int,
    settings: RankingSettings,
    *,
    most_samples: int = 0,
) -> Ranking:
    """The ranking: groups by weight, then score, log-probability, estimated cost; failures last.

    ``samples`` is the number of completions so far, the denominator of the agreement;
    ``most_samples`` the largest number that there may be in the end.
    """
    grouped = group_assessments(assessments)
    weights = weigh_groups(grouped)
    votes: dict[int, int] = {}
    for assessment in grouped:
        votes[assessment.group] = votes.get(assessment.group, 0) + assessment.candidate.samples
    counted = [
        assessment
        if assessment.group < 0
        else replace(
            assessment, votes=votes[assessment.group], weight=round(weights[assessment.group], 6)
        )
        for assessment in grouped
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


def _find_class(assessment: Assessment) -> int:
    if assessment.unrun == "estimate":
        return _FORBIDDEN
    return _FAILED if assessment.failed else _ALIVE


def _rank_key(assessment: Assessment) -> tuple[int, float, bool, float, float, float, str]:
    logprob = assessment.candidate.logprob
    return (
        _find_class(assessment),
        -assessment.weight,
        assessment.result is None,
        -assessment.score.total,
        math.inf if logprob is None else -logprob,
        assessment.explained.cost if assessment.explained else math.inf,
        assessment.candidate.id,
    )
