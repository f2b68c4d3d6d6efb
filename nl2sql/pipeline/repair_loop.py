"""Rounds of repair: by rule first, by the model where nothing works, and the vote decides.

Every original stays a candidate. A repair takes over the samples of what it repairs as soon as the
database would run it, and has to win the vote like any other. A candidate that works is left alone,
but for one whose empty result a stored value explains, where that is switched on. After the
deadline the model is asked once more only, about the best candidate: without that there would be no
answer.

Knows nothing of how a repair is made: that is the repairer's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace

from nl2sql.concurrency import gather_all
from nl2sql.deadline import NEVER, Deadline
from nl2sql.pipeline.assessor import CandidateAssessor
from nl2sql.protocols import Ranker, Repairer
from nl2sql.settings.repair import RepairSettings
from nl2sql.types import Assessment, Candidate, Plan, Question, Ranking, Repair, SchemaContext

_DEFAULTS = RepairSettings()
_Tried = tuple[Assessment | None, Repair]


class RepairLoop:
    """Repairs what a question's rankings leave open, round after round of its sampling.

    ``ask_model`` and ``empty_results`` switch parts on.
    """

    def __init__(
        self,
        assessor: CandidateAssessor,
        ranker: Ranker,
        repairer: Repairer,
        settings: RepairSettings = _DEFAULTS,
        *,
        ask_model: bool = False,
        empty_results: bool = False,
        deadline: Deadline = NEVER,
    ) -> None:
        self._assessor = assessor
        self._ranker = ranker
        self._repairer = repairer
        self._settings = settings
        self._ask_model = ask_model
        self._empty_results = empty_results
        self._deadline = deadline
        self._has_asked_late = False
        # Rules say the same of the same candidate every time.
        self._unruled: dict[str, _Tried] = {}
        # By its text: different candidates are often repaired to the same query.
        self._assessing: dict[str, asyncio.Task[Assessment]] = {}

    def finds_work(self, ranking: Ranking) -> bool:
        """True when there is something to repair, and a reason to."""
        if ranking.quorum and self._settings.when == "no_quorum":
            return False
        return bool(self._find_repairable(ranking))

    async def run(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        ranking: Ranking,
        *,
        is_last: bool = True,
    ) -> tuple[Ranking, tuple[Repair, ...]]:
        """The ranking with its repairs, and the attempts, failed ones too.

        ``is_last`` says that no further samples are to come: only then is the model asked, and only
        where nothing works; what could not be repaired at all is then listed too. Raises
        EngineUnavailable and what the ranker raises.
        """
        attempts: list[Repair] = []
        doubtful: set[str] = set()
        ranking = replace(ranking, assessments=_hand_over(ranking.assessments, doubtful))
        while self.finds_work(ranking):
            tried = await self._try_all(question, context, plan, ranking)
            self._unruled |= {
                repair.candidate: (None, repair) for each, repair in tried if each is None
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
                each.candidate.id for each, repair in tried if each is not None and repair.risks
            }
            ranking = await self._ranker.rank(
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
        """One repair for each candidate that needs one, side by side; what came of them.

        What no rule could repair is not handed to the rules again. From the deadline on, the model
        is not waited for any longer than until one of its repairs works.
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
        tried = await self._deadline.gather([attempt(each) for each in failed], _works)
        return [each for each in tried if each is not None]

    async def _try(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        failed: Assessment,
        history: tuple[Assessment, ...],
        ask_model: bool,
    ) -> _Tried:
        candidate, repair = await self._repairer.repair(
            question, context, failed, ask_model=ask_model, plan=plan, history=history
        )
        if candidate is None:
            return None, repair
        assessment = await self._assess(question, candidate, context, plan)
        return assessment, replace(repair, outcome="failed" if assessment.failed else "fixed")

    async def _assess(
        self, question: Question, candidate: Candidate, context: SchemaContext, plan: Plan
    ) -> Assessment:
        """One assessment of a text, for all repairs that came to it in this question."""
        task = self._assessing.get(candidate.sql)
        if task is None:
            work = self._assessor.guard_and_assess(question, candidate, context, plan)
            task = self._assessing[candidate.sql] = asyncio.ensure_future(work)
        return replace(await task, candidate=candidate)

    def _find_repairable(self, ranking: Ranking) -> tuple[Assessment, ...]:
        """What does not work, has no repair yet, and has attempts left.

        A repair that failed stands for what it repaired.
        """
        repaired = {assessment.candidate.repairs for assessment in ranking.assessments}
        return tuple(
            assessment
            for assessment in ranking.assessments
            if (assessment.failed or (self._empty_results and _is_empty(assessment)))
            and assessment.candidate.id not in repaired
            and len(_trace_back(assessment, ranking)) < self._settings.rounds
        )


def _trace_back(assessment: Assessment, ranking: Ranking) -> tuple[Assessment, ...]:
    """What the assessment's candidate repairs, and what that repaired, the original first."""
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


def _is_empty(assessment: Assessment) -> bool:
    return assessment.result is not None and not assessment.result.rows


def _made(tried: Sequence[_Tried]) -> tuple[Assessment, ...]:
    return tuple(assessment for assessment, _ in tried if assessment is not None)


def _hand_over(
    assessments: tuple[Assessment, ...], doubtful: Collection[str]
) -> tuple[Assessment, ...]:
    """Repairs that work take over the samples of all that they repair, but for doubtful ones."""
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
