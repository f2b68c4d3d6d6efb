"""The guard before everything else: what it refuses is never explained, run or voted for.

The one way from a candidate to an assessment. Stage 6 receives guarded queries only.
"""

from __future__ import annotations

from nl2sql.protocols import Guard, Ranker
from nl2sql.types import (
    Assessment,
    Candidate,
    GuardedQuery,
    Plan,
    Question,
    SchemaContext,
    Violation,
)


class CandidateAssessor:
    """Stage 5, then the assessment of stage 6. Every method raises Unavailable."""

    def __init__(self, guard: Guard, ranker: Ranker) -> None:
        self._guard = guard
        self._ranker = ranker

    async def guard(self, question: Question, candidate: Candidate) -> GuardedQuery | Violation:
        """The guard's verdict for the principal who asks."""
        return await self._guard.guard(question.database, candidate.sql, question.principal)

    async def assess(
        self,
        question: Question,
        candidate: Candidate,
        verdict: GuardedQuery | Violation,
        context: SchemaContext,
        plan: Plan,
    ) -> Assessment:
        """EXPLAIN, findings and score; a refused candidate has none."""
        if isinstance(verdict, Violation):
            return Assessment(candidate, verdict)
        return await self._ranker.assess(question, candidate, verdict, context, plan)

    async def guard_and_assess(
        self, question: Question, candidate: Candidate, context: SchemaContext, plan: Plan
    ) -> Assessment:
        """Both steps, for a candidate that comes alone."""
        verdict = await self.guard(question, candidate)
        return await self.assess(question, candidate, verdict, context, plan)
