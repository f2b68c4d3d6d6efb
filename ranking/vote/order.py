"""The vote: candidates with equivalent results vote together, each with its samples.

A sample of a candidate with a low score weighs less (``weights``). What contradicts samples that
all agree does not win, whatever it weighs (``unanimity``). Knows nothing of databases: ``polling``
runs the candidates before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

from nl2sql.intervals import wilson_interval
from nl2sql.settings.ranking import RankingSettings
from nl2sql.types import Assessment, Ranking
from ranking.vote.early_stop import is_settled
from ranking.vote.groups import group_assessments
from ranking.vote.readings import find_bare
from ranking.vote.unanimity import find_contradicting, is_quorum
from ranking.vote.weights import weigh_groups

# The classes of candidates, best first: those that ran or may be run, contradict all samples, must
# not run, are wrong.
_ALIVE, _CONTRADICTING, _FORBIDDEN, _FAILED = range(4)


def vote(
    assessments: Sequence[Assessment],
    samples: int,
    settings: RankingSettings,
    *,
    most_samples: int = 0,
) -> Ranking:
    """The ranking: groups by weight; in a group labels before bare keys and the form with most
    weight, then score, log-probability, estimated cost; failures last.

    ``samples`` is the number of completions so far, the denominator of the agreement;
    ``most_samples`` the largest number that there may be in the end.
    """
    grouped = group_assessments(assessments)
    weights = weigh_groups(grouped)
    shown = _Forms(
        find_bare(grouped), weigh_groups([replace(each, group=each.form) for each in grouped])
    )
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
    contradicting = find_contradicting(grouped, samples)
    ordered = tuple(sorted(counted, key=partial(_rank_key, contradicting, shown)))
    leads = bool(ordered) and _find_class(ordered[0], contradicting) == _ALIVE
    agreeing = ordered[0].votes if leads else 0
    return Ranking(
        assessments=ordered,
        samples=samples,
        confidence=round(wilson_interval(agreeing, samples)[0], 4) if agreeing else 0.0,
        quorum=is_quorum(agreeing, samples),
        settled=is_settled(ordered, samples, most_samples, settings) if leads else False,
    )


def _find_class(assessment: Assessment, contradicting: Set[str]) -> int:
    if assessment.unrun == "estimate":
        return _FORBIDDEN
    if assessment.failed:
        return _FAILED
    return _CONTRADICTING if assessment.candidate.id in contradicting else _ALIVE


@dataclass(frozen=True, slots=True)
class _Forms:
    """The forms that show bare keys, and the weight of each form."""

    bare: Set[int]
    weights: Mapping[int, float]


def _rank_key(
    contradicting: Set[str], shown: _Forms, assessment: Assessment
) -> tuple[int, float, bool, bool, float, float, float, float, str]:
    logprob = assessment.candidate.logprob
    return (
        _find_class(assessment, contradicting),
        -assessment.weight,
        assessment.result is None,
        assessment.form in shown.bare,
        -shown.weights[assessment.form],
        -assessment.score.total,
        math.inf if logprob is None else -logprob,
        assessment.explained.cost if assessment.explained else math.inf,
        assessment.candidate.id,
    )
