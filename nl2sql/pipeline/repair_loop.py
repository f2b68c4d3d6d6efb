"""Rounds of repair: by rule first, then by the model if no candidate works; the vote decides.

Every original stays a candidate. A repair takes over the samples of the candidate it repairs once
the database accepts it, and takes part in the vote like any other. Candidates that work are not
repaired, except, if that is switched on, those whose result is empty. After the deadline the model
is asked only once more, about the best candidate: otherwise there would be no answer.

Knows nothing of how the repairer makes a repair.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from nl2sql.concurrency import SingleFlight, gather_all
from nl2sql.deadline import NEVER, Deadline
from nl2sql.pipeline.stages import Stages
from nl2sql.types import Assessment, Candidate, Plan, Question, Ranking, Repair, SchemaContext

# Most successive repairs of one candidate.
_ROUNDS = 3
_Tried = tuple[Assessment | None, Repair]


class RepairLoop:
    """Repairs the failed candidates of one question, in every round of its sampling.

    ``ask_model`` allows repair by the model.
    """

    def __init__(
        self,
        stages: Stages,
        *,
        rounds: int = _ROUNDS,
        ask_model: bool = False,
        deadline: Deadline = NEVER,
    ) -> None:
        self._stages = stages
        self._rounds = rounds
        self._ask_model = ask_model
        self._deadline = deadline
        self._has_asked_late = False
        # Candidates that no rule could repair: the rules would give the same result again.
        self._unruled: dict[str, _Tried] = {}
        # By text: different candidates are often repaired to the same query.
        self._assessing = SingleFlight[Assessment]()
        self._assessed: dict[str, Assessment] = {}

    def finds_work(self, ranking: Ranking) -> bool:
        """True if there is no quorum, and there are candidates to repair."""
        return not ranking.quorum and bool(self._find_repairable(ranking))

    async def run(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        ranking: Ranking,
        *,
        is_last: bool = True,
    ) -> tuple[Ranking, tuple[Repair, ...]]:
        """The ranking with its repairs, and all attempts, including failed ones.

        ``is_last`` says that no further samples follow: only then is the model asked, and only if
        no candidate works; candidates that could not be repaired are then listed too. Raises
        EngineUnavailable and what the ranker raises.
        """
        attempts: list[Repair] = []
        doubtful: set[str] = set()
        ranking = replace(ranking, assessments=_hand_over(ranking.assessments, doubtful))
        while self.finds_work(ranking):
            tried = await self._try_all(question, context, plan, ranking)
            self._unruled |= {
                repair.candidate: (None, repair)
                for assessment, repair in tried
                if assessment is None
            }
            may_ask = self._ask_model and is_last and not self._has_asked_late
            if not _made(tried) and may_ask and ranking.winner is None:
                tried = await self._try_all(question, context, plan, ranking, ask_model=True)
            made = _made(tried)
            if not made:
                if is_last and ranking.winner is None:
                    attempts += (repair for _, repair in tried)
                break
            attempts += (repair for _, repair in tried if repair.outcome != "none")
            doubtful |= {
                assessment.candidate.id
                for assessment, repair in tried
                if assessment is not None and repair.risks
            }
            ranking = await self._stages.ranker.rank(
                question,
                _hand_over(ranking.assessments + made, doubtful),
                samples=ranking.samples,
            )
        return ranking, tuple(attempts)

    async def _try_all(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        ranking: Ranking,
        *,
        ask_model: bool = False,
    ) -> list[_Tried]:
        """Tries one repair for each candidate that needs one, concurrently.

        Candidates that no rule could repair are not passed to the rules again. After the deadline,
        the model's repairs are awaited only until one of them works.
        """
        failed = self._find_repairable(ranking)

        async def attempt(failed: Assessment) -> _Tried:
            if not ask_model and failed.candidate.id in self._unruled:
                return self._unruled[failed.candidate.id]
            history = _trace_back(failed, ranking)
            return await self._try(question, context, plan, failed, history, ask_model)

        if not ask_model:
            return await gather_all(map(attempt, failed))
        if self._deadline.has_passed:
            self._has_asked_late = True
            failed = failed[:1]
        tried = await self._deadline.gather(list(map(attempt, failed)), _works)
        return [outcome for outcome in tried if outcome is not None]

    async def _try(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        failed: Assessment,
        history: tuple[Assessment, ...],
        ask_model: bool,
    ) -> _Tried:
        candidate, repair = await self._stages.repairer.repair(
            question, context, failed, ask_model=ask_model, plan=plan, history=history
        )
        if candidate is None:
            return None, repair
        assessment = await self._assess(question, candidate, context, plan)
        return assessment, replace(repair, outcome="failed" if assessment.failed else "fixed")

    async def _assess(
        self, question: Question, candidate: Candidate, context: SchemaContext, plan: Plan
    ) -> Assessment:
        """Assesses each text once per question, however many repairs result in it."""
        if (assessed := self._assessed.get(candidate.sql)) is None:
            work = partial(self._stages.check_and_assess, question, candidate, context, plan)
            assessed = await self._assessing.run(candidate.sql, work)
            self._assessed[candidate.sql] = assessed
        return replace(assessed, candidate=candidate)

    def _find_repairable(self, ranking: Ranking) -> tuple[Assessment, ...]:
        """The assessments that failed, have no repair yet, and have attempts left.

        A failed repair is repaired in place of its original.
        """
        repaired = {assessment.candidate.repairs for assessment in ranking.assessments}
        return tuple(
            assessment
            for assessment in ranking.assessments
            if assessment.failed
            and assessment.candidate.id not in repaired
            and len(_trace_back(assessment, ranking)) < self._rounds
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


def _works(tried: _Tried) -> bool:
    assessment, _ = tried
    return assessment is not None and not assessment.failed


def _made(tried: Sequence[_Tried]) -> tuple[Assessment, ...]:
    return tuple(assessment for assessment, _ in tried if assessment is not None)


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
