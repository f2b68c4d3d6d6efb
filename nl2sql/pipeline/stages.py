"""The stages of a pipeline, and the one way from a candidate to an assessment.

The guard comes before everything else: what it refuses is never explained, run or voted
for. Ranking receives guarded queries only.
"""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql.protocols import Generator, Guard, Planner, Ranker, Repairer, Retriever
from nl2sql.types import (
    Assessment,
    Candidate,
    GuardedQuery,
    Plan,
    Question,
    SchemaContext,
    Violation,
)


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages, each in this process or behind a handle. Every method raises Unavailable."""

    retriever: Retriever
    planner: Planner
    generator: Generator
    guard: Guard
    ranker: Ranker
    repairer: Repairer

    async def check(self, question: Question, candidate: Candidate) -> GuardedQuery | Violation:
        """The guard's verdict for the principal who asks."""
        return await self.guard.guard(question.database, candidate.sql, question.principal)

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
        return await self.ranker.assess(question, candidate, verdict, context, plan)

    async def check_and_assess(
        self, question: Question, candidate: Candidate, context: SchemaContext, plan: Plan
    ) -> Assessment:
        """Both steps, for a candidate that comes alone."""
        verdict = await self.check(question, candidate)
        return await self.assess(question, candidate, verdict, context, plan)
