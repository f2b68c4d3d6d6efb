"""The vote where the question requires tables: candidates that read all of them win."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from nl2sql.types import Assessment, Ranking


def vote_with_required(
    assessments: Sequence[Assessment], vote: Callable[[Sequence[Assessment]], Ranking]
) -> Ranking:
    """The vote of those that read all required tables; the others follow without votes.

    If none of these can be run, all vote, with confidence 0, and the vote is not settled.
    """
    fitting = [assessment for assessment in assessments if not assessment.misses_required]
    if len(fitting) == len(assessments):
        return vote(assessments)
    if not any(_is_alive(assessment) for assessment in fitting):
        return replace(vote(assessments), confidence=0.0, quorum=False, settled=False)
    ranking = vote(fitting)
    others = vote([assessment for assessment in assessments if assessment.misses_required])
    after = tuple(
        replace(assessment, group=-1, votes=0, weight=0.0) for assessment in others.assessments
    )
    return replace(ranking, assessments=ranking.assessments + after)


def _is_alive(assessment: Assessment) -> bool:
    return not assessment.failed and assessment.unrun != "estimate"
