"""Runs the candidates for the vote: a page each, within limits and a budget that they share.

Those with most samples go first, a few at a time. What takes too long, or comes after the budget is
spent, is marked as not run, never as wrong: it votes with its plan, and if it wins it is run whole.
A candidate runs once, however often it is voted on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from nl2sql.concurrency import gather_all
from nl2sql.protocols import Executor
from nl2sql.settings.ranking import RankingSettings
from nl2sql.types import Assessment, Diagnostic, ExecutionLimits, GuardedQuery

QUERY_CANCELED = "57014"


async def run_candidates(
    executor: Executor, assessments: Sequence[Assessment], settings: RankingSettings
) -> tuple[Assessment, ...]:
    """The same with a result, an error, or why there is neither. Raises Unavailable.

    The budget is execution time, of all candidates together and over all rounds; those that are
    under way when it ends may overrun it by their own time limit.
    """
    left_ms = settings.vote_budget_ms - sum(
        _spent_ms(assessment, settings) for assessment in assessments
    )
    slots = asyncio.Semaphore(settings.vote_parallel)
    run = list(assessments)

    async def work(at: int, verdict: GuardedQuery) -> None:
        nonlocal left_ms
        async with slots:
            if left_ms < 1:
                run[at] = replace(run[at], unrun="budget")
                return
            timeout_ms = min(settings.vote_timeout_ms, int(left_ms))
            limits = ExecutionLimits(timeout_ms, settings.vote_bytes)
            start = time.perf_counter()
            answer = await executor.execute(verdict, settings.vote_rows, limits)
            left_ms -= (time.perf_counter() - start) * 1000
        if not isinstance(answer, Diagnostic):
            run[at] = replace(run[at], result=answer, unrun="")
        elif answer.sqlstate == QUERY_CANCELED:
            run[at] = replace(run[at], unrun="timeout")
        else:
            run[at] = add_diagnostic(run[at], answer)

    waiting = [
        (at, verdict)
        for at, each in enumerate(assessments)
        if each.result is None
        and not each.failed
        and each.unrun in ("", "budget")
        and isinstance(verdict := each.verdict, GuardedQuery)
    ]
    waiting.sort(key=lambda pair: -assessments[pair[0]].candidate.samples)
    await gather_all(work(at, verdict) for at, verdict in waiting)
    if any(each.unrun for each in run):
        return tuple(await gather_all(_identify(executor, assessment) for assessment in run))
    return tuple(run)


async def _identify(executor: Executor, each: Assessment) -> Assessment:
    """The assessment with its plan's name: only where something did not run is it asked for."""
    explained, verdict = each.explained, each.verdict
    if explained is None or explained.plan or not isinstance(verdict, GuardedQuery):
        return each
    answer = await executor.explain(verdict, identify=True)
    again = answer.explained if isinstance(answer, Diagnostic) else answer
    if again is None:
        return each
    return replace(each, explained=replace(explained, plan=again.plan))


def add_diagnostic(each: Assessment, diagnostic: Diagnostic) -> Assessment:
    """The assessment with an error; one about what the plan expects keeps the plan."""
    if diagnostic.explained is None:
        return replace(each, diagnostic=diagnostic)
    return replace(each, diagnostic=diagnostic, explained=diagnostic.explained, unrun="estimate")


def _spent_ms(each: Assessment, settings: RankingSettings) -> float:
    if each.unrun == "timeout":
        return settings.vote_timeout_ms
    return each.result.ms if each.result is not None else 0.0
