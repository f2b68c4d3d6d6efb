"""Stage 6: every candidate is guarded, explained, scored; what passes is run and votes."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from nl2sql.protocols import Executor, Guard
from nl2sql.settings import FlagSettings
from nl2sql.types import (
    Assessment,
    Candidate,
    Diagnostic,
    GuardedQuery,
    Plan,
    Question,
    Ranking,
    Violation,
)
from ranking.lint import lint_query
from ranking.score import score_candidate
from ranking.vote import vote


class CandidateRanker:
    """Assesses candidates one by one and ranks them together."""

    def __init__(self, guard: Guard, executor: Executor, flags: FlagSettings) -> None:
        self._guard = guard
        self._executor = executor
        self._flags = flags

    async def assess(self, question: Question, candidate: Candidate, plan: Plan) -> Assessment:
        """Guard verdict, EXPLAIN and score. Raises Unavailable."""
        verdict = await self._guard.guard(question.database, candidate.sql, question.principal)
        if isinstance(verdict, Violation):
            return Assessment(candidate, verdict)
        explained = await self._executor.explain(verdict)
        findings = lint_query(verdict.sql, verdict.dialect)
        score = score_candidate(question.text, verdict, explained, findings, plan)
        return Assessment(
            candidate=candidate,
            verdict=verdict,
            explained=None if isinstance(explained, Diagnostic) else explained,
            diagnostic=explained if isinstance(explained, Diagnostic) else None,
            findings=findings,
            score=score,
        )

    async def rank(
        self, question: Question, assessments: tuple[Assessment, ...], *, samples: int
    ) -> Ranking:
        """Runs what has not run yet and orders all by the vote. Raises Unavailable."""
        run = tuple(await asyncio.gather(*(self._execute(question, each) for each in assessments)))
        if self._flags.reranker:
            return vote(run, samples)
        first = next((each for each in run if each.result is not None), None)
        rest = tuple(each for each in run if each is not first)
        return Ranking((first, *rest) if first else rest, samples=samples)

    async def _execute(self, question: Question, assessment: Assessment) -> Assessment:
        verdict = assessment.verdict
        if (
            assessment.failed
            or assessment.result is not None
            or not isinstance(verdict, GuardedQuery)
        ):
            return assessment
        answer = await self._executor.execute(verdict, question.max_rows)
        if isinstance(answer, Diagnostic):
            return replace(assessment, diagnostic=answer)
        return replace(assessment, result=answer)
