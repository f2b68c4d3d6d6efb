"""Stages 0 and 4: the gate, a first draft, the prompt, and K candidates from one request."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from generation.hints import choose_examples, render_example, render_hints
from generation.intent_gate import check_intent
from nl2sql.prompts import render_prompt
from nl2sql.protocols import Engine
from nl2sql.schema_text import SchemaWriter, TokenCounts
from nl2sql.settings import Settings
from nl2sql.sql_text import extract_sql, normal_form
from nl2sql.types import (
    Candidate,
    Completions,
    Generated,
    Plan,
    Prompt,
    Question,
    SamplingRequest,
    SchemaContext,
    Sketch,
)

PROMPTS = "generation.prompts"
# What examples may take of the model's window, all together: one part in four.
_EXAMPLES_PART = 4
# A sketch is read for its names, so that it may end early.
_SKETCH_TOKENS = 128


class CandidateGenerator:
    """Turns a question and its schema into candidates, equal ones merged."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._tokens = TokenCounts(engine)
        self._writer = SchemaWriter(self._tokens, settings)

    async def gate(self, question: Question, context: SchemaContext) -> str:
        """The reason to refuse the question, or an empty string."""
        if not self._settings.flags.intent_gate:
            return ""
        return check_intent(context, self._settings.retrieval.min_similarity)

    async def sketch(self, question: Question, context: SchemaContext) -> Sketch:
        """One greedy draft over the names alone. Raises PromptTooLong, EngineUnavailable."""
        most = min(_SKETCH_TOKENS, self._settings.sampling.max_tokens)
        render = partial(
            render_prompt,
            PROMPTS,
            "sketch",
            dialect=context.dialect,
            hints=render_hints(question, context, Plan()),
            question=question.text,
        )
        written = await self._writer.write(
            context,
            database=question.database,
            beside=_read_texts(render(schema="")),
            answer_tokens=most,
            form="names",
        )
        completions = await self._sample(
            render(schema=written.text), k=1, seed=question.seed, max_tokens=most
        )
        return Sketch(
            extract_sql(completions.texts[0]),
            completions.prompt_tokens,
            completions.completion_tokens,
        )

    async def generate(
        self, question: Question, context: SchemaContext, plan: Plan, *, round_number: int = 0
    ) -> Generated:
        """Candidates in the order of their first sample.

        Raises PromptTooLong, EngineUnavailable.
        """
        prompt, left_out = await self.build_prompt(question, context, plan)
        completions = await self._sample(
            prompt,
            k=question.k,
            seed=question.seed,
            max_tokens=self._settings.sampling.max_tokens,
        )
        return Generated(
            prompt=prompt,
            candidates=merge_candidates(completions, context.dialect),
            prompt_tokens=completions.prompt_tokens,
            completion_tokens=completions.completion_tokens,
            left_out=left_out,
            samples=question.k,
        )

    async def build_prompt(
        self, question: Question, context: SchemaContext, plan: Plan
    ) -> tuple[Prompt, tuple[str, ...]]:
        """The prompt, and what of the schema did not fit into it.

        The schema stands first, then examples, then what was found out, then the question. Raises
        EngineUnavailable.
        """
        sampling = self._settings.sampling
        render = partial(
            render_prompt,
            PROMPTS,
            "generate",
            dialect=context.dialect,
            examples=await self._render_examples(context),
            question=question.text,
        )
        hints = partial(render_hints, question, context, plan if sampling.show_plan else Plan())
        written = await self._writer.write(
            context,
            database=question.database,
            beside=_read_texts(render(schema="", hints=hints())),
            answer_tokens=sampling.max_tokens,
            plan=plan,
        )
        prompt = render(schema=written.text, hints=hints(left_out=written.left_out))
        return prompt, written.left_out

    async def _render_examples(self, context: SchemaContext) -> str:
        """As many as fit into their part of the window, the best of them next to the question."""
        # A fence within a literal would end the example, and what follows would be taken for ours.
        shown = [each for each in context.examples if "```" not in each.sql + each.question]
        if not shown:
            return ""
        counts = await self._tokens.count(render_example(each) for each in shown)
        chosen = choose_examples(counts, self._settings.model.max_model_len // _EXAMPLES_PART)
        return "".join(reversed(chosen))

    async def _sample(self, prompt: Prompt, *, k: int, seed: int, max_tokens: int) -> Completions:
        return await self._engine.sample(
            SamplingRequest(
                prompt=prompt,
                k=k,
                seed=seed,
                temperature=self._settings.sampling.temperature if k > 1 else 0.0,
                max_tokens=max_tokens,
                answer_start="```sql\n",
                stop=("```",),
            )
        )


def _read_texts(prompt: Prompt) -> list[str]:
    return [message.content for message in prompt.messages]


def merge_candidates(completions: Completions, dialect: str = "postgres") -> tuple[Candidate, ...]:
    """One candidate for each normal form; ``samples`` counts the texts that had it.

    >>> both = merge_candidates(Completions(("SELECT 1", "select 1;", "hm"), 9, 9))
    >>> [(each.id, each.samples) for each in both]
    [('c1', 2)]
    """
    merged: dict[str, Candidate] = {}
    likelihoods = completions.logprobs or (None,) * len(completions.texts)
    for text, logprob in zip(completions.texts, likelihoods, strict=True):
        if not (sql := extract_sql(text)):
            continue
        form = normal_form(sql, dialect)
        known = merged.get(form, Candidate(f"c{len(merged) + 1}", sql, samples=0))
        told = [each for each in (known.logprob, logprob) if each is not None]
        merged[form] = replace(known, samples=known.samples + 1, logprob=max(told, default=None))
    return tuple(merged.values())
