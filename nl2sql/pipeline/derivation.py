"""Derived candidates: near neighbours of the leading candidates, judged like any other.

They are guarded, explained, scored and run; they win only by the vote. Made once, after the last
round and its repairs, from the best candidates.
"""

from __future__ import annotations

from nl2sql.concurrency import gather_all
from nl2sql.pipeline.stages import Stages
from nl2sql.types import Candidate, Plan, Question, Ranking, SchemaContext

# A fourth makes one more of 958 questions of Spider's train set answerable.
_PARENTS = 3


async def derive(
    stages: Stages, question: Question, context: SchemaContext, plan: Plan, ranking: Ranking
) -> Ranking:
    """The ranking with the candidates derived from its leaders; the same if there are none."""
    parents = _find_parents(ranking)
    if not parents:
        return ranking
    known = tuple(assessment.candidate.sql for assessment in ranking.assessments)
    derived = await stages.repairer.derive(question, context, plan, parents, known)
    if not derived:
        return ranking
    assessed = await gather_all(
        stages.check_and_assess(question, candidate, context, plan) for candidate in derived
    )
    return await stages.ranker.rank(
        question, (*ranking.assessments, *assessed), samples=ranking.samples
    )


def _find_parents(ranking: Ranking) -> tuple[Candidate, ...]:
    """The best candidates, also those of the same group: of two that find nothing, one is close."""
    found = [assessment for assessment in ranking.assessments if assessment.result is not None]
    return tuple(assessment.candidate for assessment in found[:_PARENTS])
