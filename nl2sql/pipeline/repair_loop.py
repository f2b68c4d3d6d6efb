"""Rounds of repair: by rule, and by the model if no candidate works; the vote decides.

Every original stays a candidate. A repair takes over the samples of the candidate it repairs once
the database accepts it, and takes part in the vote like any other. Candidates that work are not
repaired.

Knows nothing of how the repairer makes a repair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nl2sql.concurrency import gather_all
from nl2sql.pipeline.stages import Stages
from nl2sql.types import Assessment, Plan, Question, Ranking, Repair, SchemaContext

# Most successive repairs of one candidate.
_ROUNDS = 3
_Tried = tuple[Assessment | None, Repair]


@dataclass(slots=True)
class RepairLoop:
    """Repairs the failed candidates of one question, in every round of its sampling."""

    stages: Stages
    question: Question
    context: SchemaContext
    plan: Plan
    # Candidates that no rule could repair: the rules would give the same result again.
    _unruled: dict[str, Repair] = field(default_factory=dict, init=False)

    async def run(
        self, ranking: Ranking, *, is_last: bool, ask_model: bool = False
    ) -> tuple[Ranking, tuple[Repair, ...]]:
        """The ranking with its repairs, and all attempts, including failed ones.

        If no further samples follow (``is_last``) and no candidate works, the model may be asked
        for the best of them, and candidates that could not be repaired are listed too. Raises
        EngineUnavailable and what the ranker raises.
        """
        attempts: list[Repair] = []
        ranking = replace(ranking, assessments=_hand_over(ranking.assessments))
        while failed := self.find_repairable(ranking):
            rest = [each for each in failed if each.candidate.id not in self._unruled]
            tried = await self._try(ranking, rest)
            self._unruled |= {repair.candidate: repair for made, repair in tried if made is None}
            is_lost = is_last and ranking.winner is None
            if is_lost and ask_model and all(made is None for made, _ in tried):
                tried = await self._try(ranking, failed[:1], ask_model=True)
            if all(made is None for made, _ in tried):
                if is_lost:
                    latest = self._unruled | {repair.candidate: repair for _, repair in tried}
                    attempts += (latest[each.candidate.id] for each in failed)
                break
            attempts += (repair for made, repair in tried if made is not None)
            repaired = tuple(made for made, _ in tried if made is not None)
            ranking = await self.stages.ranker.rank(
                self.question,
                _hand_over(ranking.assessments + repaired),
                samples=ranking.samples,
            )
        return ranking, tuple(attempts)

    async def _try(
        self, ranking: Ranking, failed: Sequence[Assessment], *, ask_model: bool = False
    ) -> list[_Tried]:
        """Tries one repair for each of the failed candidates, concurrently."""
        repaired = await gather_all(
            self.stages.repairer.repair(
                self.question,
                self.context,
                each,
                ask_model=ask_model,
                plan=self.plan,
                history=_trace_back(each, ranking),
            )
            for each in failed
        )
        # Different candidates are often repaired to the same query.
        queries = {made.sql: made for made, _ in repaired if made is not None}
        assessed = await gather_all(
            self.stages.check_and_assess(self.question, query, self.context, self.plan)
            for query in queries.values()
        )
        known = dict(zip(queries, assessed, strict=True))
        return [
            (None, repair)
            if made is None
            else (
                replace(known[made.sql], candidate=made),
                replace(repair, outcome="failed" if known[made.sql].failed else "fixed"),
            )
            for made, repair in repaired
        ]

    def find_repairable(self, ranking: Ranking) -> tuple[Assessment, ...]:
        """The assessments that failed, have no repair yet, and have attempts left.

        A failed repair is repaired in place of its original. None where there is a quorum.
        """
        if ranking.quorum:
            return ()
        repaired = {assessment.candidate.repairs for assessment in ranking.assessments}
        return tuple(
            assessment
            for assessment in ranking.assessments
            if assessment.failed
            and assessment.candidate.id not in repaired
            and len(_trace_back(assessment, ranking)) < _ROUNDS
        )


def _trace_back(assessment: Assessment, ranking: Ranking) -> tuple[Assessment, ...]:
    """The chain of candidates that this one repairs, the original first."""
    by_id = {assessment.candidate.id: assessment for assessment in ranking.assessments}
    chain: list[Assessment] = []
    here = assessment
    while (before := by_id.get(here.candidate.repairs)) is not None:
        chain.insert(0, before)
        here = before
    return tuple(chain)


def _hand_over(assessments: tuple[Assessment, ...]) -> tuple[Assessment, ...]:
    """Moves the samples of repaired candidates to repairs that work."""
    samples = {assessment.candidate.id: assessment.candidate.samples for assessment in assessments}
    origin = {assessment.candidate.id: assessment.candidate.repairs for assessment in assessments}
    for assessment in assessments:
        if assessment.failed:
            continue
        name = assessment.candidate.id
        before = origin[name]
        while before in samples:
            samples[name] += samples[before]
            samples[before] = 0
            before = origin[before]
    return tuple(
        replace(
            assessment,
            candidate=replace(assessment.candidate, samples=samples[assessment.candidate.id]),
        )
        for assessment in assessments
    )
