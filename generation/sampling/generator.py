"""Generation: the intent gate, the draft query, the prompt, and K candidates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from generation.conversation.answer_writer import AnswerWriter
from generation.conversation.follow_up import FollowUps
from generation.conversation.intent_gate import check_intent
from generation.gathering import gather_until
from generation.prompts.prompt_builder import PromptBuilder
from generation.sampling.allocation import VARIANTS, Draw, deal_samples, draw_one
from nl2sql.concurrency import gather_all
from nl2sql.deadline import NEVER, Deadline
from nl2sql.prompts import ANSWER_END, ANSWER_START
from nl2sql.protocols import Engine
from nl2sql.settings import StageSettings
from nl2sql.sql.extraction import extract_sql
from nl2sql.sql.normal_form import normal_form
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import (
    AnswerText,
    Candidate,
    Completions,
    DraftQuery,
    Generated,
    Intent,
    Plan,
    Prompt,
    Question,
    ResultSet,
    Rewriting,
    SamplingRequest,
    SchemaContext,
    Turn,
)

# Only the names in a draft query are used, so it may be incomplete.
_DRAFT_TOKENS = 128
# The engine has the same deadline and needs time to return what is finished.
_GRACE_S = 1.0


class CandidateGenerator:
    """Generates candidates for a question and its schema; merges equal ones."""

    def __init__(self, engine: Engine, settings: StageSettings) -> None:
        self._engine = engine
        self._settings = settings
        self._follow_ups = FollowUps(engine, settings)
        self._answers = AnswerWriter(engine, settings)
        self._builder = PromptBuilder(engine, settings)

    async def gate(self, question: Question, context: SchemaContext) -> Intent:
        """Whether the question is about this database and not a command to change data."""
        return check_intent(question, context, self._settings.flags)

    async def rewrite(self, question: Question, turns: tuple[Turn, ...]) -> Rewriting:
        """The follow-up as a complete question, or the interpretation that it chooses."""
        return await self._follow_ups.rewrite(question, turns)

    async def write_answer(self, question: Question, sql: str, result: ResultSet) -> AnswerText:
        """The answer in words."""
        return await self._answers.write(question, sql, result)

    async def write_draft(self, question: Question, context: SchemaContext) -> DraftQuery:
        """One greedy query from the prompt of the candidates, as it is without a plan.

        Raises PromptTooLong, EngineUnavailable.
        """
        prompt, _ = await self._builder.build(question, context, Plan(), VARIANTS[0])
        most = min(_DRAFT_TOKENS, self._settings.sampling.max_tokens)
        completions = await self._sample(prompt, draw_one(question.seed), most)
        return DraftQuery(
            await run_in_parser_thread(extract_sql, completions.texts[0], context.dialect),
            completions.prompt_tokens,
            completions.completion_tokens,
        )

    async def prepare(self, context: SchemaContext) -> int:
        """Fills the prefix cache with the beginning of prompts about these tables.

        Returns its number of tokens. Raises PromptTooLong, EngineUnavailable.
        """
        prompt = await self._builder.build_beginning(context)
        read = await self._sample(prompt, draw_one(0), max_tokens=1)
        return read.prompt_tokens

    async def generate(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        *,
        before: Generated | None = None,
        has_answer: bool = False,
        deadline: Deadline = NEVER,
    ) -> Generated:
        """Candidates in the order of their first sample; all variants are sampled concurrently.

        At the deadline it returns the finished samples, or waits for the first one. ``before`` is
        the round before this one. With ``has_answer`` an earlier round brought a query that runs,
        so this one brings none if its time is over or the engine fails. Raises PromptTooLong,
        EngineUnavailable.
        """
        sampling = self._settings.sampling
        round_number = before.round_number + 1 if before else 0
        draws, more = deal_samples(
            question.k,
            seed=question.seed,
            temperature=sampling.temperature,
            round_number=round_number,
        )
        written = await gather_all(
            self._builder.build(question, context, plan, draw.variant) for draw in draws
        )
        results = await gather_until(
            deadline,
            [
                self._sample(prompt, draw, sampling.max_tokens, deadline.left_s)
                for draw, (prompt, _) in zip(draws, written, strict=True)
            ],
            lambda completions: bool(completions.texts),
            has_enough=has_answer,
            grace_s=_GRACE_S,
        )
        named = [
            (draw.variant, completions)
            for draw, completions in zip(draws, results, strict=True)
            if completions is not None
        ]
        drawn = [completions for _, completions in named]
        return Generated(
            prompts=(
                *(before.prompts if before else ()),
                *((draw.variant, prompt) for draw, (prompt, _) in zip(draws, written, strict=True)),
            ),
            candidates=await run_in_parser_thread(merge_candidates, named, context.dialect),
            prompt_tokens=sum(completions.prompt_tokens for completions in drawn),
            completion_tokens=sum(completions.completion_tokens for completions in drawn),
            left_out=written[0][1],
            samples=sum(len(completions.texts) for completions in drawn),
            wanted=sum(draw.k for draw in draws),
            more=more,
            round_number=round_number,
        )

    async def _sample(
        self,
        prompt: Prompt,
        draw: Draw,
        max_tokens: int,
        time_limit_s: float | None = None,
    ) -> Completions:
        return await self._engine.sample(
            SamplingRequest(
                prompt=prompt,
                k=draw.k,
                seed=draw.seed,
                temperature=draw.temperature,
                max_tokens=max_tokens,
                answer_start=ANSWER_START,
                stop=(ANSWER_END,),
                time_limit_s=time_limit_s,
            )
        )


def merge_candidates(
    drawn: Iterable[tuple[str, Completions]], dialect: str
) -> tuple[Candidate, ...]:
    """Candidates in the order of their first sample, from pairs of (variant, completions).

    ``samples`` counts the texts of that normal form from all variants.

    >>> drawn = Completions(("SELECT 1", "hm", "select 1;"), 9, 9)
    >>> both = merge_candidates([("narrow", drawn)], "")
    >>> [(candidate.id, candidate.samples, candidate.variant) for candidate in both]
    [('c1', 2, 'narrow')]
    """
    merged: dict[str, Candidate] = {}
    for variant, completions in drawn:
        for text in completions.texts:
            if not (sql := extract_sql(text, dialect)):
                continue
            form = normal_form(sql, dialect)
            new = Candidate(f"c{len(merged) + 1}", sql, samples=0, variant=variant)
            known = merged.get(form, new)
            merged[form] = replace(known, samples=known.samples + 1)
    return tuple(merged.values())
