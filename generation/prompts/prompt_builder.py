"""Builds the prompt of a question: schema, examples, hints, question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from generation.prompts.hints import choose_examples, render_example, render_hints, render_notes
from generation.prompts.made_examples import make_examples
from generation.prompts.relative_dates import render_today
from nl2sql.prompts import render_prompt
from nl2sql.prompts.contents import measure_context, reduce_context
from nl2sql.protocols import Engine
from nl2sql.schema_text import SchemaWriter
from nl2sql.settings import StageSettings
from nl2sql.types import FewShot, Plan, Prompt, Question, SchemaContext

PROMPTS = "generation.prompts"
# Examples may take a quarter of the model's context window.
_EXAMPLES_PART = 4

Variant = Literal["standard", "narrow"]
"""Which tables the prompt shows: all that were found, or those that the question names."""


class PromptBuilder:
    """Writes prompts that fit into the model's context window and hold what may be sent."""

    def __init__(self, engine: Engine, settings: StageSettings) -> None:
        self._engine = engine
        self._settings = settings
        self._writer = SchemaWriter(engine, settings.model)

    async def build(
        self, question: Question, context: SchemaContext, plan: Plan, variant: Variant
    ) -> tuple[Prompt, tuple[str, ...]]:
        """The prompt, and the tables that did not fit into it.

        The order is schema, examples, notes and hints, question. Raises EngineUnavailable.
        """
        context = reduce_context(context, self._settings.model.sends)
        shots = context.examples
        if variant == "narrow":
            context = narrow_context(context, plan)
            room = self._settings.retrieval.examples - len(shots)
            shots += make_examples(context, plan)[: max(room, 0)]
        examples = await self._render_examples(shots)
        told = self._render_instructions(question) + self._render_today(question)

        def render(schema: str, left_out: tuple[str, ...] = ()) -> Prompt:
            return render_prompt(
                PROMPTS,
                "generate",
                dialect=context.dialect,
                contains=measure_context(context),
                schema=schema,
                notes=render_notes(context, plan, left_out),
                examples=examples,
                hints=told + render_hints(question, context, left_out),
                question=question.text,
            )

        written = await self._writer.write(
            context,
            beside=read_texts(render("")),
            answer_tokens=self._settings.sampling.max_tokens,
            plan=plan,
        )
        return render(written.text, written.left_out), written.left_out

    async def build_beginning(self, context: SchemaContext) -> Prompt:
        """The common beginning of all prompts about the tables of ``context``.

        Raises EngineUnavailable.
        """
        context = reduce_context(context, self._settings.model.sends)
        written = await self._writer.write(
            context, beside=(), answer_tokens=self._settings.sampling.max_tokens
        )
        return render_prompt(
            PROMPTS,
            "generate",
            dialect=context.dialect,
            contains=measure_context(context),
            schema=written.text,
            notes="",
            examples="",
            hints="",
            question="",
        )

    def _render_instructions(self, question: Question) -> str:
        """What the assistant that is asked tells the model; empty for a database."""
        assistant = self._settings.assistants.get(question.database)
        if assistant is None or not assistant.instructions:
            return ""
        return f"Instructions: {assistant.instructions}\n"

    def _render_today(self, question: Question) -> str:
        """The line for the date that the database's settings call today; mostly empty."""
        settings = self._settings.by_name.get(question.database)
        if settings is None or settings.today is None:
            return ""
        hint = render_today(question.text, settings.today)
        return f"Hint: {hint}\n" if hint else ""

    async def _render_examples(self, examples: Iterable[FewShot]) -> str:
        """As many examples as fit into their part of the window; the best is the last one."""
        # A code fence in a literal would end the example; the rest would look like instructions.
        shown = [example for example in examples if "```" not in example.sql + example.question]
        if not shown:
            return ""
        texts = tuple(map(render_example, shown))
        counts = dict(zip(texts, await self._engine.count_tokens(texts), strict=True))
        chosen = choose_examples(counts, self._settings.model.max_model_len // _EXAMPLES_PART)
        return "".join(reversed(chosen))


def narrow_context(context: SchemaContext, plan: Plan) -> SchemaContext:
    """The context with only the tables that the question names or that join them.

    A value says what a question is about, not what it asks for: with values alone, it keeps all.
    """
    kept = {link.table for link in plan.links if link.method != "value"}
    kept |= {table for definition in context.definitions for table in definition.tables}
    if kept or plan.joins.keys:
        kept |= {link.table for link in plan.links} | set(plan.joins.tables)
        kept |= {match.table for match in context.values}
    pairs = [
        (hit, name)
        for hit, name in zip(context.tables, context.names, strict=True)
        if hit.table.qualified in kept
    ]
    if not pairs:
        return context
    return replace(
        context,
        tables=tuple(hit for hit, _ in pairs),
        names=tuple(name for _, name in pairs),
        catalog_tables=len(pairs) if context.is_whole else context.catalog_tables,
        foreign_keys=tuple(key for key in context.foreign_keys if {key.table, key.target} <= kept),
    )


def read_texts(prompt: Prompt) -> list[str]:
    """The texts of a prompt's messages."""
    return [message.content for message in prompt.messages]
