"""Runs the candidates for the vote: one page of each, within limits and a shared budget.

Candidates with most samples run first, a few at a time. One that takes too long, that gets no turn
at a busy database, or that the budget does not reach, is marked as not run, never as wrong: it
votes alone, and if it wins, it is run under the service's limits. A candidate runs once,
even if there are several votes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nl2sql.concurrency import gather_all
from nl2sql.errors import Busy
from nl2sql.protocols import Executor
from nl2sql.types import (
    NO_TURN,
    QUERY_CANCELED,
    Assessment,
    Diagnostic,
    ExecutionLimits,
    GuardedQuery,
    Ranking,
    ResultSet,
)


@dataclass(frozen=True, slots=True)
class VoteLimits:
    """What is read of one candidate, and how long one and all of a question may run.

    ``rows`` are compared, of at most so many ``bytes``; ``parallel`` run at a time.
    """

    rows: int = 1000
    bytes: int = 8 * 2**20
    timeout_ms: int = 5000
    budget_ms: int = 20_000
    parallel: int = 4


VOTE_LIMITS = VoteLimits()


async def run_candidates(
    executor: Executor, assessments: Sequence[Assessment], vote: VoteLimits = VOTE_LIMITS
) -> tuple[Assessment, ...]:
    """The assessments with a result, an error, or the reason for neither. Raises Unavailable.

    The budget is the execution time of all candidates together, over all rounds; candidates that
    are running when it ends may exceed it by their own time limit.
    """
    left_ms = vote.budget_ms - sum(_spent_ms(assessment, vote) for assessment in assessments)
    slots = asyncio.Semaphore(vote.parallel)
    run = list(assessments)

    async def work(at: int, verdict: GuardedQuery) -> None:
        nonlocal left_ms
        async with slots:
            if left_ms < 1:
                run[at] = replace(run[at], unrun="budget")
                return
            timeout_ms = min(vote.timeout_ms, int(left_ms))
            limits = ExecutionLimits(timeout_ms, vote.bytes)
            start = time.perf_counter()
            answer = await executor.execute(verdict, vote.rows, limits)
            # Without the time that it waited for its turn.
            ran_ms = min((time.perf_counter() - start) * 1000, timeout_ms)
            left_ms -= answer.ms if isinstance(answer, ResultSet) else ran_ms
        if not isinstance(answer, Diagnostic):
            run[at] = replace(run[at], result=answer, unrun="")
        elif answer.sqlstate == QUERY_CANCELED:
            run[at] = replace(run[at], unrun="timeout")
        elif answer.sqlstate == NO_TURN:
            run[at] = replace(run[at], unrun="busy")
        else:
            run[at] = add_diagnostic(run[at], answer)

    waiting = [
        (at, verdict)
        for at, assessment in enumerate(assessments)
        if assessment.result is None
        and not assessment.failed
        and assessment.unrun in ("", "budget", "busy")
        and isinstance(verdict := assessment.verdict, GuardedQuery)
    ]
    waiting.sort(key=lambda pair: -assessments[pair[0]].candidate.samples)
    await gather_all(work(at, verdict) for at, verdict in waiting)
    return tuple(run)


def add_diagnostic(assessment: Assessment, diagnostic: Diagnostic) -> Assessment:
    """The assessment with an error; it keeps the plan if the error is about the plan's estimate."""
    if diagnostic.explained is None:
        return replace(assessment, diagnostic=diagnostic)
    return replace(
        assessment, diagnostic=diagnostic, explained=diagnostic.explained, unrun="estimate"
    )


def _spent_ms(assessment: Assessment, vote: VoteLimits) -> float:
    if assessment.unrun == "timeout":
        return vote.timeout_ms
    return assessment.result.ms if assessment.result is not None else 0.0


def find_unrun_leader(ranking: Ranking) -> Assessment | None:
    """The leading candidate if it has not run, otherwise None."""
    for assessment in ranking.assessments:
        if assessment.result is not None or assessment.failed:
            return None
        if assessment.unrun:
            return assessment
    return None


async def run_whole(
    executor: Executor, assessment: Assessment, max_rows: int, *, has_next: bool
) -> Assessment:
    """Runs a candidate under the service's limits, not those of the vote. Raises Unavailable.

    Without a turn at a busy database it has failed where there is a next one that has run.
    """
    if not isinstance(assessment.verdict, GuardedQuery):
        return assessment
    try:
        answer = await executor.execute(assessment.verdict, max_rows)
    except Busy as error:
        if not has_next:
            raise
        answer = Diagnostic(NO_TURN, error.message)
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
    """At most the first ``max_rows`` rows of a result."""
    if len(result.rows) <= max_rows:
        return result
    return replace(
        result,
        rows=result.rows[:max_rows],
        truncated=True,
        cut=tuple(cell for cell in result.cut if cell[0] < max_rows),
    )
