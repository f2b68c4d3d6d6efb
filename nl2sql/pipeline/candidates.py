"""New candidates beside the known ones: those of a further round, and derived ones.

Derived candidates are near neighbours of the leaders, made once, after the last round and its
repairs. They are guarded, explained, scored and run like any other; they win only by the vote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nl2sql.concurrency import gather_all
from nl2sql.pipeline.stages import Stages
from nl2sql.sql.normal_form import normal_form
from nl2sql.types import Assessment, Candidate, Plan, Question, Ranking, SchemaContext


def merge_round(
    known: tuple[Assessment, ...], drawn: tuple[Candidate, ...], dialect: str
) -> tuple[tuple[Assessment, ...], tuple[Candidate, ...]]:
    """Returns the known assessments with the new samples added, and the new candidates.

    Candidates of the same normal form are the same; new ones get the next numbers. If a repair
    took over the samples of a candidate, further samples go to the repair.
    """
    forms = {
        normal_form(assessment.candidate.sql, dialect): number
        for number, assessment in enumerate(known)
        if not assessment.candidate.repairs
    }
    merged = list(known)
    new: list[Candidate] = []
    for candidate in drawn:
        number = forms.get(normal_form(candidate.sql, dialect))
        if number is None:
            new.append(replace(candidate, id=f"c{len(forms) + len(new) + 1}"))
            continue
        holder = _find_holder(merged, number)
        holding = merged[holder].candidate
        grown = replace(holding, samples=holding.samples + candidate.samples)
        merged[holder] = replace(merged[holder], candidate=grown)
    return tuple(merged), tuple(new)


def _find_holder(assessments: Sequence[Assessment], number: int) -> int:
    """The index of what holds a candidate's samples: itself, or its last repair that took them."""
    repairs = {
        assessment.candidate.repairs: index
        for index, assessment in enumerate(assessments)
        if assessment.candidate.repairs
    }
    here = number
    while (after := repairs.get(assessments[here].candidate.id)) is not None:
        here = after
    return here if assessments[here].candidate.samples else number


# A fourth makes one more of 958 questions of Spider's train set answerable.
_PARENTS = 3


async def derive(
    stages: Stages, question: Question, context: SchemaContext, plan: Plan, ranking: Ranking
) -> Ranking:
    """The ranking with the candidates derived from its leaders; the same if there are none."""
    # Also those of the same group: of two that find nothing, one is close.
    found = [assessment for assessment in ranking.assessments if assessment.result is not None]
    if not found:
        return ranking
    parents = tuple(assessment.candidate for assessment in found[:_PARENTS])
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
