"""Rounds of repair: by rule first, then by the model if no candidate works; the vote decides.

Every original stays a candidate. A repair takes over the samples of the candidate it repairs once
the database accepts it, and takes part in the vote like any other. Candidates that work are not
repaired. After the deadline the model is asked only once more, about the best candidate: otherwise
there would be no answer.

Knows nothing of how the repairer makes a repair.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from nl2sql.concurrency import gather_all
from nl2sql.deadline import Deadline
from nl2sql.pipeline.stages import Stages
from nl2sql.types import Assessment, Plan, Question, Ranking, Repair, SchemaContext

# Most successive repairs of one candidate.
_ROUNDS = 3
_Tried = tuple[Assessment | None, Repair]


@dataclass(slots=True)
class RepairLoop:
    """Repairs the failed candidates of one question, in every round of its sampling.

    ``ask_model`` allows repair by the model.
    """

    stages: Stages
    question: Question
    context: SchemaContext
    plan: Plan
    _: KW_ONLY
    ask_model: bool
    deadline: Deadline
    # Candidates that no rule could repair: the rules would give the same result again.
    _unruled: dict[str, Repair] = field(default_factory=dict, init=False)

    async def run(self, ranking: Ranking, *, is_last: bool) -> tuple[Ranking, tuple[Repair, ...]]:
        """The ranking with its repairs, and all attempts, including failed ones.

        ``is_last`` says that no further samples follow: only then is the model asked, and only if
        no candidate works; candidates that could not be repaired are then listed too. Raises
        EngineUnavailable and what the ranker raises.
        """
        attempts: list[Repair] = []
        doubtful: set[str] = set()
        ranking = replace(ranking, assessments=_hand_over(ranking.assessments, doubtful))
        while failed := self.find_repairable(ranking):
            may_end = is_last and ranking.winner is None
            rest = [each for each in failed if each.candidate.id not in self._unruled]
            tried = await self._try(ranking, rest)
            self._unruled |= {repair.candidate: repair for made, repair in tried if made is None}
            if may_end and self.ask_model and all(made is None for made, _ in tried):
                if self.deadline.has_passed:
                    failed, self.ask_model = failed[:1], False
                tried = await self._try(ranking, failed, ask_model=True)
            if all(made is None for made, _ in tried):
                if may_end:
                    latest = self._unruled | {repair.candidate: repair for _, repair in tried}
                    attempts += (latest[each.candidate.id] for each in failed)
                break
            attempts += (repair for made, repair in tried if made is not None)
            doubtful |= {
                made.candidate.id for made, repair in tried if made is not None and repair.risks
            }
            repaired = tuple(made for made, _ in tried if made is not None)
            ranking = await self.stages.ranker.rank(
                self.question,
                _hand_over(ranking.assessments + repaired, doubtful),
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


def _hand_over(
    assessments: tuple[Assessment, ...], doubtful: Collection[str]
) -> tuple[Assessment, ...]:
    """Moves the samples of repaired candidates to repairs that work and are not ``doubtful``."""
    samples = {assessment.candidate.id: assessment.candidate.samples for assessment in assessments}
    origin = {assessment.candidate.id: assessment.candidate.repairs for assessment in assessments}
    for assessment in assessments:
        name = assessment.candidate.id
        if assessment.failed or name in doubtful:
            continue
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
