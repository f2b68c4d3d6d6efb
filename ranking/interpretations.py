"""The interpretations that divided the vote: the best query of each of the two best groups.

Their descriptions come from the queries alone, the same for the same query: no model is asked.
"""

from __future__ import annotations

from nl2sql.types import Assessment, Interpretation, Ranking, ResultSet, SchemaContext
from ranking.display import add_units
from ranking.query_words import describe_apart
from ranking.vote.polling import cut_page

_MOST = 2
# Enough to see what an interpretation says; whoever picks it gets all rows.
_MOST_ROWS = 20


def build_interpretations(
    ranking: Ranking, context: SchemaContext, max_rows: int = _MOST_ROWS
) -> tuple[Interpretation, ...]:
    """One or two interpretations, best first; each is the best candidate of its group that ran.

    Each has the first of the rows that the vote read, at most ``max_rows``: nothing runs again.
    """
    most = min(max_rows, _MOST_ROWS)
    best: dict[int, Assessment] = {}
    for assessment in ranking.assessments:
        if assessment.result is not None and not assessment.failed:
            best.setdefault(assessment.group, assessment)
    chosen = list(best.values())[:_MOST]
    words = describe_apart([each.candidate.sql for each in chosen], context.dialect)
    return tuple(
        Interpretation(
            sql=each.candidate.sql,
            description=text,
            share=round(each.votes / ranking.samples, 4) if ranking.samples else 0.0,
            result=_show(each, context, most),
        )
        for each, text in zip(chosen, words, strict=True)
    )


def _show(assessment: Assessment, context: SchemaContext, most: int) -> ResultSet | None:
    """The first rows, with the units of the columns."""
    result = assessment.result
    if result is not None and len(result.rows) > most:
        result = cut_page(result, most)
    return add_units(result, assessment.candidate.sql, context) if result is not None else None
