"""Fetches the requested page of the vote's winner."""

from __future__ import annotations

from dataclasses import replace

from nl2sql.errors import Busy
from nl2sql.protocols import Executor
from nl2sql.types import Assessment, Diagnostic, GuardedQuery, Ranking, ResultSet
from ranking.vote.polling import add_diagnostic


def find_unrun_leader(ranking: Ranking) -> Assessment | None:
    """The leading candidate if it has not run, otherwise None."""
    for assessment in ranking.assessments:
        if assessment.result is not None or assessment.failed:
            return None
        if assessment.unrun:
            return assessment
    return None


async def run_whole(executor: Executor, assessment: Assessment, max_rows: int) -> Assessment:
    """Runs a candidate under the service's limits, not those of the vote. Raises Unavailable."""
    if not isinstance(assessment.verdict, GuardedQuery):
        return assessment
    answer = await executor.execute(assessment.verdict, max_rows)
    if isinstance(answer, Diagnostic):
        return replace(add_diagnostic(assessment, answer), unrun="")
    return replace(assessment, result=answer, unrun="")


async def fetch_page(executor: Executor, winner: Assessment, max_rows: int) -> Assessment:
    """The winner with at most ``max_rows`` rows. Raises Unavailable.

    Runs it again only if the vote fetched fewer. If that fails or gets no turn, the rows of the
    vote stay.
    """
    seen = winner.result
    if seen is None or not isinstance(winner.verdict, GuardedQuery):
        return winner
    if len(seen.rows) > max_rows:
        return replace(winner, result=cut_page(seen, max_rows))
    if not seen.truncated or len(seen.rows) == max_rows:
        return winner
    try:
        answer = await executor.execute(winner.verdict, max_rows)
    except Busy:
        return winner
    return winner if isinstance(answer, Diagnostic) else replace(winner, result=answer)


def cut_page(result: ResultSet, max_rows: int) -> ResultSet:
    """The first ``max_rows`` rows of a result that has more."""
    return replace(
        result,
        rows=result.rows[:max_rows],
        truncated=True,
        cut=tuple(cell for cell in result.cut if cell[0] < max_rows),
    )
