"""The way of a question through the stages.

The pipeline is handed its stages and nothing else. The same class runs in process, inside Ray
Serve with stages behind deployment handles, and in batch. It decides the order of the stages, what
runs side by side and when a repair is worth a try; it knows nothing of how a stage does its work.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count

from nl2sql.answers import Answer, Answered, Clarify, Failed, Refused, StageTiming, Trace
from nl2sql.errors import PromptTooLong, Unavailable
from nl2sql.protocols import Generator, Planner, Ranker, Repairer, Retriever
from nl2sql.sketch_names import has_new_names
from nl2sql.sql_text import normal_form
from nl2sql.types import (
    NOT_PERMITTED,
    Assessment,
    Candidate,
    ModuleRoute,
    Plan,
    Question,
    Ranking,
    Repair,
    SchemaContext,
    Sketch,
    Violation,
)


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages, each in this process or behind a handle."""

    retriever: Retriever
    planner: Planner
    generator: Generator
    ranker: Ranker
    repairer: Repairer


class Pipeline:
    """Answers questions. Raises Unavailable and its kin; every other outcome is an Answer."""

    def __init__(
        self,
        stages: Stages,
        *,
        min_confidence: float = 0.0,
        model_repair: bool = True,
        pre_sql: bool = False,
    ) -> None:
        self._stages = stages
        self._pre_sql = pre_sql
        self._repair_rounds = (False, True) if model_repair else (False,)
        self._min_confidence = min_confidence

    async def answer(self, question: Question) -> Answer:
        """The answer, with the trace of all that led to it."""
        clock = _Clock()
        stages = self._stages
        trace = Trace(question)

        async with clock.time("retrieve"):
            route, context = await stages.retriever.retrieve(question)
        trace = replace(trace, route=route, context=context)
        if context.refusal:
            return Refused(NOT_PERMITTED, context.refusal, replace(trace, timings=clock.timings))

        async with clock.time("gate"):
            reason = await stages.generator.gate(question, context)
        if reason:
            return Refused("off_topic", reason, replace(trace, timings=clock.timings))

        if self._pre_sql:
            sketch, route, context = await self._search_again(question, route, context, clock)
            trace = replace(trace, sketch=sketch, route=route, context=context)
            if context.refusal:
                return Refused(
                    NOT_PERMITTED, context.refusal, replace(trace, timings=clock.timings)
                )

        async with clock.time("plan"):
            plan = await stages.planner.plan(question, context)
        clock.add_tokens(plan.prompt_tokens, plan.completion_tokens)
        trace = replace(trace, plan=plan)

        ranking = Ranking()
        for round_number in count():
            async with clock.time("generate"):
                generated = await stages.generator.generate(
                    question, context, plan, round_number=round_number
                )
            clock.add_tokens(generated.prompt_tokens, generated.completion_tokens)
            if round_number == 0:
                trace = replace(trace, prompt=generated.prompt, left_out=generated.left_out)
            samples = ranking.samples + generated.samples
            known, new = merge_round(ranking.assessments, generated.candidates, context.dialect)
            async with clock.time("assess"):
                assessed = await asyncio.gather(
                    *(stages.ranker.assess(question, each, plan) for each in new)
                )
            async with clock.time("vote"):
                ranking = await stages.ranker.rank(question, (*known, *assessed), samples=samples)
            if ranking.settled or not generated.more:
                break

        repairs: tuple[Repair, ...] = ()
        # By rule wherever there is no quorum; by the model, which costs as much as sampling, only
        # where nothing works at all.
        for ask_model in self._repair_rounds:
            failed = _find_repairable(ranking)
            if ranking.quorum or not failed or (ask_model and ranking.winner):
                break
            async with clock.time("repair"):
                repaired, tried = await self._repair(question, context, plan, failed, ask_model)
            # That no rule applied is no attempt, as long as the model may still be asked.
            repairs += tuple(each for each in tried if ask_model or each.outcome != "none")
            if repaired:
                async with clock.time("vote"):
                    ranking = await stages.ranker.rank(
                        question,
                        _merge(ranking.assessments, repaired),
                        samples=ranking.samples,
                    )
        trace = replace(trace, ranking=ranking, repairs=repairs, timings=clock.timings)
        return self._conclude(ranking, trace)

    async def _search_again(
        self, question: Question, route: ModuleRoute, context: SchemaContext, clock: _Clock
    ) -> tuple[str, ModuleRoute, SchemaContext]:
        """A draft of the query, and what is found with the names in it.

        Without a draft, or one that names anything new, what was found before stays.
        """
        sketch = Sketch()
        async with clock.time("sketch"):
            with suppress(Unavailable, PromptTooLong):
                sketch = await self._stages.generator.sketch(question, context)
        clock.add_tokens(sketch.prompt_tokens, sketch.completion_tokens)
        if sketch.sql and has_new_names(sketch.sql, context):
            async with clock.time("retrieve"):
                with suppress(Unavailable):
                    route, context = await self._stages.retriever.retrieve(
                        question, sketch=sketch.sql
                    )
        return sketch.sql, route, context

    async def _repair(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        failed: tuple[Assessment, ...],
        ask_model: bool,
    ) -> tuple[tuple[Assessment, ...], tuple[Repair, ...]]:
        """One repair for each failed candidate, side by side; what came of them."""
        outcomes = await asyncio.gather(
            *(self._repair_one(question, context, plan, each, ask_model) for each in failed)
        )
        return (
            tuple(assessment for assessment, _ in outcomes if assessment is not None),
            tuple(repair for _, repair in outcomes),
        )

    async def _repair_one(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        failed: Assessment,
        ask_model: bool,
    ) -> tuple[Assessment | None, Repair]:
        candidate, repair = await self._stages.repairer.repair(
            question, context, failed, ask_model=ask_model
        )
        if candidate is None:
            return None, repair
        assessment = await self._stages.ranker.assess(question, candidate, plan)
        outcome = "failed" if assessment.failed else "fixed"
        return assessment, replace(repair, outcome=outcome)

    def _conclude(self, ranking: Ranking, trace: Trace) -> Answer:
        winner = ranking.winner
        if winner is None or winner.result is None:
            if reason := _find_withheld(ranking):
                return Refused(NOT_PERMITTED, reason, trace)
            return Failed(_describe_failure(ranking), trace)
        if ranking.confidence < self._min_confidence:
            readings = {
                each.group: each.candidate.sql
                for each in reversed(ranking.assessments)
                if each.result is not None
            }
            reason = (
                f"The candidates disagree: the confidence is {ranking.confidence:.2f}, "
                f"{self._min_confidence:.2f} is asked for. Say more precisely what you want."
            )
            return Clarify(
                reason, ranking.confidence, tuple(reversed(readings.values()))[:2], trace
            )
        return Answered(
            sql=winner.candidate.sql,
            result=winner.result,
            confidence=ranking.confidence,
            quorum=ranking.quorum,
            trace=trace,
        )


def _find_repairable(ranking: Ranking) -> tuple[Assessment, ...]:
    """What failed and has no repair yet; a repair that failed stands for what it repaired."""
    repaired = {each.candidate.repairs for each in ranking.assessments}
    return tuple(
        each for each in ranking.assessments if each.failed and each.candidate.id not in repaired
    )


def merge_round(
    known: tuple[Assessment, ...], drawn: tuple[Candidate, ...], dialect: str
) -> tuple[tuple[Assessment, ...], tuple[Candidate, ...]]:
    """What was assessed before, with the samples of a new round, and what the round brings anew.

    Candidates are the same by normal form; new ones are numbered on.
    """
    forms = {
        normal_form(each.candidate.sql, dialect): number
        for number, each in enumerate(known)
        if not each.candidate.repairs
    }
    merged = list(known)
    new: list[Candidate] = []
    for candidate in drawn:
        number = forms.get(normal_form(candidate.sql, dialect))
        if number is None:
            new.append(replace(candidate, id=f"c{len(forms) + len(new) + 1}"))
            continue
        before = merged[number].candidate
        told = [each for each in (before.logprob, candidate.logprob) if each is not None]
        merged[number] = replace(
            merged[number],
            candidate=replace(
                before,
                samples=before.samples + candidate.samples,
                logprob=max(told, default=None),
            ),
        )
    return tuple(merged), tuple(new)


def _merge(
    assessments: tuple[Assessment, ...], repaired: tuple[Assessment, ...]
) -> tuple[Assessment, ...]:
    """Originals and repairs; a repair that works takes over the samples of what it repairs."""
    fixed = {each.candidate.repairs for each in repaired if not each.failed}
    kept = tuple(
        replace(each, candidate=replace(each.candidate, samples=0))
        if each.candidate.id in fixed
        else each
        for each in assessments
    )
    return kept + repaired


def _find_withheld(ranking: Ranking) -> str:
    """What the principal may not see of what the candidates asked for; empty if nothing."""
    for each in ranking.assessments:
        if isinstance(each.verdict, Violation) and each.verdict.code == NOT_PERMITTED:
            return each.verdict.message
    return ""


def _describe_failure(ranking: Ranking) -> str:
    if not ranking.assessments:
        return "The model wrote no query."
    return (
        f"None of the {len(ranking.assessments)} queries that were tried could be run. "
        "Ask with the words of the tables you mean, or ask for more candidates."
    )


class _Clock:
    """Collects the timings of stages; a stage that runs twice adds up."""

    def __init__(self) -> None:
        self._timings: dict[str, StageTiming] = {}

    @asynccontextmanager
    async def time(self, stage: str) -> AsyncIterator[None]:
        start = time.perf_counter()
        yield
        ms = (time.perf_counter() - start) * 1000
        before = self._timings.get(stage, StageTiming(stage, 0.0))
        self._timings[stage] = replace(before, ms=before.ms + ms)
        self._last = stage

    def add_tokens(self, prompt: int, completion: int) -> None:
        timing = self._timings[self._last]
        self._timings[self._last] = replace(
            timing,
            prompt_tokens=timing.prompt_tokens + prompt,
            completion_tokens=timing.completion_tokens + completion,
        )

    @property
    def timings(self) -> tuple[StageTiming, ...]:
        return tuple(self._timings.values())
