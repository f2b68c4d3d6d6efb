"""The vote: candidates with equivalent results vote together, each with its samples.

A sample of a candidate with a low score weighs less (``weights``). What contradicts samples that
all agree does not win, whatever it weighs (``unanimity``). Knows nothing of databases: ``polling``
runs the candidates before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import partial

from nl2sql.types import Assessment, Candidate, Ranking, ResultSet
from ranking.score.points import weigh_score
from ranking.vote.groups import find_bare, group_assessments
from ranking.vote.unanimity import find_contradicting, is_quorum

# The classes of candidates, best first: those that ran or may be run, contradict all samples, must
# not run, are wrong.
_ALIVE, _CONTRADICTING, _FORBIDDEN, _FAILED = range(4)


def vote(assessments: Sequence[Assessment], samples: int) -> Ranking:
    """The ranking: groups by weight; in a group labels before bare keys and the form with most
    weight, then score, its own samples, estimated cost; failures last.

    ``samples`` is the number of completions so far, the denominator of the agreement.
    """
    grouped = group_assessments(assessments)
    idle = _find_idle(grouped)
    counting = [each for each in grouped if each.candidate.id not in idle]
    weights = weigh_groups(counting)
    bare = find_bare(grouped)
    forms = weigh_groups([replace(each, group=each.form) for each in counting])
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
    ordered = tuple(sorted(counted, key=partial(_rank_key, contradicting, bare, forms, idle)))
    leads = bool(ordered) and _find_class(ordered[0], contradicting) == _ALIVE
    agreeing = ordered[0].votes if leads else 0
    return Ranking(
        assessments=ordered,
        samples=samples,
        quorum=is_quorum(agreeing, samples),
        settled=leads and is_settled(ordered, samples),
    )


def _find_class(assessment: Assessment, contradicting: Set[str]) -> int:
    if assessment.unrun == "estimate":
        return _FORBIDDEN
    if assessment.failed:
        return _FAILED
    return _CONTRADICTING if assessment.candidate.id in contradicting else _ALIVE


def _find_idle(assessments: Sequence[Assessment]) -> frozenset[str]:
    """The ids of the derived candidates that find the same as what they were derived from."""
    forms = {each.candidate.id: each.form for each in assessments if each.form >= 0}
    return frozenset(
        each.candidate.id
        for each in assessments
        if each.form >= 0 and forms.get(each.candidate.derived_from) == each.form
    )


def _rank_key(
    contradicting: Set[str],
    bare: Set[int],
    forms: Mapping[int, float],
    idle: Set[str],
    assessment: Assessment,
) -> tuple[int, float, bool, bool, float, bool, float, int, float, int, str]:
    """``bare`` are the forms that show bare keys, ``forms`` has the weight of each form."""
    return (
        _find_class(assessment, contradicting),
        -assessment.weight,
        assessment.result is None,
        assessment.form in bare,
        -forms[assessment.form],
        assessment.candidate.id in idle,
        -assessment.score.total,
        -assessment.candidate.samples,
        assessment.explained.cost if assessment.explained else math.inf,
        len(assessment.candidate.id),
        assessment.candidate.id,
    )


def is_settled(ordered: Sequence[Assessment], samples: int) -> bool:
    """True if all ``samples`` agree, as they were drawn, so that more hardly change the leader.

    ``ordered`` are the candidates best first. Agreement on a result that is unknown or says
    nothing, or on a query in which lint found an error, settles nothing.
    """
    first = ordered[0]
    if first.result is None or says_nothing(first.result) or list_errors(first):
        return False
    agreeing = sum(
        each.candidate.samples
        for each in ordered
        if each.form == first.form and each.candidate.origin == "sample"
    )
    return agreeing >= max(2, samples)


def weigh_groups(assessments: Sequence[Assessment]) -> dict[int, float]:
    """The weight of each group.

    Of the candidates of a group that vote with the same samples, the one with most weight counts.
    """
    known = {assessment.candidate.id: assessment.candidate for assessment in assessments}
    best: dict[tuple[int, str], float] = {}
    for assessment in assessments:
        source, samples = find_source(assessment.candidate, known)
        key = assessment.group, source
        best[key] = max(best.get(key, 0.0), samples * weigh_score(assessment.score.total))
    weights: dict[int, float] = {}
    for (group, _), weight in best.items():
        weights[group] = weights.get(group, 0.0) + weight
    return weights


def find_source(candidate: Candidate, known: Mapping[str, Candidate]) -> tuple[str, int]:
    """The id of the candidate with whose samples this one votes, and their number.

    A derived candidate goes back to the first that was not derived; one whose samples a repair took
    over, or that is not among the ``known``, counts as one sample.
    """
    if candidate.origin != "derived":
        return candidate.id, candidate.samples
    parent = known.get(candidate.derived_from)
    if parent is None:
        return candidate.derived_from, 1
    source, samples = find_source(parent, known)
    return source, max(1, samples)


def list_errors(assessment: Assessment) -> list[str]:
    """What lint found wrong with the query: it is almost never the answer."""
    return [found.message for found in assessment.findings if found.severity == "error"]


def says_nothing(result: ResultSet | None) -> bool:
    """True for no rows, and for a single row of only zeros and NULLs.

    A wrong condition finds nothing more often than a correct one does.
    """
    if result is None or result.cut:
        return False
    return len(result.rows) <= 1 and not any(any(row) for row in result.rows)
