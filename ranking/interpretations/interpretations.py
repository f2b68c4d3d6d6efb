"""The interpretations that divided the vote: the best query of each of the two best groups.

Their descriptions come from the queries alone, the same for the same query: no model is asked.
"""

from __future__ import annotations

from nl2sql.types import Assessment, Interpretation, Ranking
from ranking.interpretations.query_words import describe_apart

_MOST = 2


def build_interpretations(ranking: Ranking, dialect: str) -> tuple[Interpretation, ...]:
    """One or two interpretations, best first; each is the best candidate of its group that ran."""
    best: dict[int, Assessment] = {}
    for assessment in ranking.assessments:
        if assessment.result is not None and not assessment.failed:
            best.setdefault(assessment.group, assessment)
    chosen = list(best.values())[:_MOST]
    words = describe_apart([each.candidate.sql for each in chosen], dialect)
    return tuple(
        Interpretation(
            sql=each.candidate.sql,
            description=text,
            share=round(each.votes / ranking.samples, 4) if ranking.samples else 0.0,
        )
        for each, text in zip(chosen, words, strict=True)
    )
