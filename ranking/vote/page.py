"""What the vote left open of its winner: the page that was asked for."""

from __future__ import annotations

from dataclasses import replace

from nl2sql.protocols import Executor
from nl2sql.types import Assessment, Diagnostic, GuardedQuery, Ranking, ResultSet
from ranking.vote.polling import add_diagnostic


def find_unrun_leader(ranking: Ranking) -> Assessment | None:
    """The candidate that leads without having run, or None."""
    for assessment in ranking.assessments:
        if assessment.result is not None or assessment.failed:
            return None
        if assessment.unrun:
            return assessment
    return None


async def run_whole(executor: Executor, each: Assessment, max_rows: int) -> Assessment:
    """Runs a candidate under the service's own limits. Raises Unavailable."""
    if not isinstance(each.verdict, GuardedQuery):
        return each
    answer = await executor.execute(each.verdict, max_rows)
    if isinstance(answer, Diagnostic):
        return replace(add_diagnostic(each, answer), unrun="")
    return replace(each, result=answer, unrun="")


async def fetch_page(executor: Executor, winner: Assessment, max_rows: int) -> Assessment:
    """The winner with at most ``max_rows`` rows. Raises Unavailable.

    It is run again only where the vote saw fewer. If that fails, what the vote saw stays.
    """
    seen = winner.result
    if seen is None or not isinstance(winner.verdict, GuardedQuery):
        return winner
    if len(seen.rows) > max_rows:
        return replace(winner, result=cut_page(seen, max_rows))
    if not seen.truncated or len(seen.rows) == max_rows:
        return winner
    answer = await executor.execute(winner.verdict, max_rows)
    return winner if isinstance(answer, Diagnostic) else replace(winner, result=answer)


def cut_page(result: ResultSet, max_rows: int) -> ResultSet:
    """The first ``max_rows`` rows of a result that has more."""
    return replace(
        result,
        rows=result.rows[:max_rows],
        truncated=True,
        cut=tuple(cell for cell in result.cut if cell[0] < max_rows),
    )
