"""Passes a question through the stages.

The pipeline receives its stages and nothing else. The same class runs in process, inside Ray
Serve with stages behind deployment handles, and in batch. It decides the order of the stages, what
runs concurrently and when to repair; it knows nothing of how a stage works.
"""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from typing import TypeVar

from nl2sql.answers import Answer, Answered, Refused, Trace
from nl2sql.concurrency import gather_all
from nl2sql.deadline import Deadline
from nl2sql.errors import PromptTooLong, Unavailable
from nl2sql.pipeline.candidates import derive, merge_round
from nl2sql.pipeline.conclusion import conclude
from nl2sql.pipeline.draft_names import has_new_names
from nl2sql.pipeline.repair_loop import RepairLoop
from nl2sql.pipeline.stages import StageClock, Stages
from nl2sql.progress import count_done, report
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import (
    NOT_PERMITTED,
    Assessment,
    Candidate,
    DraftQuery,
    Generated,
    GuardedQuery,
    ModuleRoute,
    Plan,
    Question,
    Ranking,
    Repair,
    SchemaContext,
)

_Done = TypeVar("_Done")

_NO_LONGER_RUNS = "The verified query for this question cannot be run any more, so it was not used."


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Answers questions. Raises Unavailable and its subclasses; all other outcomes are Answers.

    ``sampling_timeout_s``: seconds until sampling ends; None: no limit.
    """

    stages: Stages
    _: KW_ONLY
    derives: bool = True
    model_repair: bool = True
    pre_sql: bool = False
    sampling_timeout_s: float | None = None

    async def answer(self, question: Question) -> Answer:
        """The answer, with the trace of everything that led to it."""
        clock = StageClock()
        stages = self.stages
        if question.chosen_sql:
            chosen = Candidate("c1", question.chosen_sql, origin="chosen")
            return await self._run_given(chosen, Trace(question), SchemaContext(), clock)

        deadline = Deadline.after(self.sampling_timeout_s)
        trace = Trace(question)
        async with clock.time("retrieve"):
            route, context = await stages.retriever.retrieve(question)
        trace = replace(trace, route=route, context=context)
        if context.refusal:
            return Refused(NOT_PERMITTED, context.refusal, replace(trace, timings=clock.timings))

        if context.about:
            about = Candidate("c1", context.about.sql, origin="catalog")
            if context.about.note:
                trace = replace(trace, notes=(context.about.note,))
            return await self._run_given(about, trace, context, clock)

        if context.verified is not None:
            verified = Candidate("c1", context.verified.sql, origin="verified")
            answer = await self._run_given(verified, trace, context, clock)
            if isinstance(answer, Answered):
                return answer
            trace = replace(trace, notes=(_NO_LONGER_RUNS,))

        async with clock.time("gate"):
            intent = await stages.generator.gate(question, context)
        trace = replace(trace, intent=intent)
        if intent.code:
            trace = replace(trace, timings=clock.timings)
            return Refused(intent.code, intent.reason, trace, intent.suggestions)

        if self.pre_sql:
            draft, route, context = await self._search_again(question, route, context, clock)
            trace = replace(trace, draft_query=draft, route=route, context=context)
            if context.refusal:
                return Refused(
                    NOT_PERMITTED, context.refusal, replace(trace, timings=clock.timings)
                )

        async with clock.time("plan"):
            plan = await stages.planner.plan(question, context)
        trace = replace(trace, plan=plan)

        ranking = Ranking()
        attempts: tuple[Repair, ...] = ()
        repairs = RepairLoop(stages, question, context, plan)
        generated: Generated | None = None
        is_last, failure, wanted = False, "", 0
        while generated is None or not (is_last or ranking.settled or deadline.has_passed):
            try:
                async with clock.time("generate"):
                    generated = await stages.generator.generate(
                        question,
                        context,
                        plan,
                        before=generated,
                        has_answer=ranking.winner is not None,
                        deadline=deadline,
                    )
            except (Unavailable, PromptTooLong) as error:
                if generated is None or ranking.winner is None:
                    raise
                # What earlier rounds brought is not lost.
                failure = error.message
                break
            if generated.round_number and not generated.samples:
                failure = "A further round failed."
            clock.add_tokens(generated.prompt_tokens, generated.completion_tokens)
            is_last = not generated.more or deadline.has_passed
            wanted += generated.wanted
            samples = ranking.samples + generated.samples
            known, new = await run_in_parser_thread(
                merge_round, ranking.assessments, generated.candidates, context.dialect
            )
            async with clock.time("guard", len(new)):
                verdicts = await gather_all(
                    _count(stages.check(question, candidate)) for candidate in new
                )
            async with clock.time("assess", len(new)):
                assessed = await gather_all(
                    _count(stages.assess(question, candidate, verdict, context, plan))
                    for candidate, verdict in zip(new, verdicts, strict=True)
                )
            async with clock.time("vote"):
                ranking = await stages.ranker.rank(question, (*known, *assessed), samples=samples)
            report(ranking)
            if repairs.find_repairable(ranking):
                async with clock.time("repair"):
                    ranking, tried = await repairs.run(
                        ranking,
                        is_last=is_last,
                        ask_model=self.model_repair and not deadline.has_passed,
                    )
                attempts += tried
                report(ranking)

        if self.derives and ranking.winner is not None:
            async with clock.time("derive"):
                derived = await derive(stages, question, context, plan, ranking)
            if derived is not ranking:
                ranking = derived
                report(ranking)

        trace = replace(
            trace,
            prompts=generated.prompts,
            left_out=generated.left_out,
            repairs=attempts,
            wanted=wanted,
        )
        ended_early = ranking.samples < wanted or (generated.more and not ranking.settled)
        if failure or (deadline.has_passed and ended_early):
            note = self._describe_end(ranking, wanted, "" if deadline.has_passed else failure)
            trace = replace(trace, ended_early=True, notes=(*trace.notes, note))
        async with clock.time("vote", progress="execute"):
            ranking = await stages.ranker.conclude(question, context, ranking)
        notes = (*trace.notes, *ranking.notes)
        trace = replace(trace, ranking=ranking, timings=clock.timings, notes=notes)
        answer = await run_in_parser_thread(conclude, ranking, trace)
        if isinstance(answer, Answered):
            report(answer)
        return answer

    async def _run_given(
        self, candidate: Candidate, trace: Trace, context: SchemaContext, clock: StageClock
    ) -> Answer:
        """Runs a query that no model wrote, guarded like any candidate."""
        question, ranker = trace.question, self.stages.ranker
        async with clock.time("guard"):
            verdict = await self.stages.check(question, candidate)
        if isinstance(verdict, GuardedQuery):
            # What was chosen comes without a context.
            context = replace(context, dialect=verdict.dialect)
        async with clock.time("assess"):
            assessed = await self.stages.assess(question, candidate, verdict, context, Plan())
        async with clock.time("vote"):
            ranking = await ranker.rank(question, (assessed,), samples=1)
            ranking = await ranker.conclude(question, context, ranking)
        ranking = replace(ranking, confidence=1.0)
        notes = (*trace.notes, *ranking.notes)
        trace = replace(trace, ranking=ranking, timings=clock.timings, notes=notes)
        return await run_in_parser_thread(conclude, ranking, trace)

    async def _search_again(
        self, question: Question, route: ModuleRoute, context: SchemaContext, clock: StageClock
    ) -> tuple[str, ModuleRoute, SchemaContext]:
        """Drafts a query and searches again with the names in it.

        The earlier route and context are kept without a draft, or if it has no new names.
        """
        draft = DraftQuery()
        async with clock.time("draft"):
            with suppress(Unavailable, PromptTooLong):
                draft = await self.stages.generator.write_draft(question, context)
        clock.add_tokens(draft.prompt_tokens, draft.completion_tokens)
        if not draft.sql:
            return "", route, context
        if await run_in_parser_thread(has_new_names, draft.sql, context):
            async with clock.time("retrieve"):
                with suppress(Unavailable):
                    route, context = await self.stages.retriever.retrieve(question, draft=draft.sql)
        return draft.sql, route, context

    def _describe_end(self, ranking: Ranking, wanted: int, failure: str) -> str:
        """Why sampling ended before all candidates; an empty ``failure``: its time was over."""
        if failure:
            return f"{failure} Sampling ended with {ranking.samples} candidates."
        count = f"{ranking.samples} of {wanted}" if ranking.samples < wanted else ranking.samples
        return f"Sampling ended after {self.sampling_timeout_s:.0f} s with {count} candidates."


async def _count(work: Awaitable[_Done]) -> _Done:
    """The candidate is done, and an assessment is told."""
    done = await work
    count_done()
    if isinstance(done, Assessment):
        report(done)
    return done
