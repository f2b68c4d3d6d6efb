"""Links by the language model, under the three techniques of the field.

``full`` asks for the columns of the whole schema in sight at once, ``tcsl`` first for the tables
and then for the columns of those, ``scsl`` for a score of each column by itself. (Names and idea:
Maamari et al., "The Death of Schema Linking?", 2024.) The first two begin as the prompt of the
query itself does, and those of ``scsl`` differ in their last line alone: what they share comes out
of the engine's prefix cache.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from nl2sql.catalog import Column, Table
from nl2sql.concurrency import gather_all
from nl2sql.prompts import render_prompt
from nl2sql.protocols import Engine
from nl2sql.schema_text import render_schema
from nl2sql.types import Completions, Question, SamplingRequest, SchemaContext
from retrieval.linking.answers import read_names, read_score
from retrieval.linking.outline import keep_tables, render_column

PROMPTS = "retrieval.linking.prompts"
_LIST_TOKENS = 320
_SCORE_TOKENS = 4
# Columns scored for one question, those of the best tables first, and how many at a time.
_MOST_SCORED = 400
_AT_ONCE = 32
_LEAST_SCORE = 0.5


@dataclass(frozen=True, slots=True)
class ModelLinks:
    """What the model named: (qualified table, column or nothing, score), and what it cost.

    ``note`` says what was wrong where it named nothing that exists.
    """

    names: tuple[tuple[str, str, float], ...]
    prompt_tokens: int
    completion_tokens: int
    note: str = ""


class ModelLinker:
    """Asks the engine. Keeps nothing between questions."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def link_full(self, question: Question, context: SchemaContext) -> ModelLinks:
        """All columns of all tables in sight, in one request.

        Raises PromptTooLong, EngineUnavailable; so do the others.
        """
        answer = await self._ask(question, context, "columns", schema=render_schema(context))
        names = read_names(answer.texts[0], context)
        return _build_links(names, (answer,))

    async def link_tables_then_columns(
        self, question: Question, context: SchemaContext
    ) -> ModelLinks:
        """Two requests: the tables, then the columns of these."""
        first = await self._ask(question, context, "tables", schema=render_schema(context))
        tables = {table for table, _ in read_names(first.texts[0], context)}
        if not tables:
            return _build_links([], (first,))
        text = render_schema(keep_tables(context, tables))
        second = await self._ask(question, context, "columns", schema=text)
        columns = [pair for pair in read_names(second.texts[0], context) if pair[0] in tables]
        pairs = [*((table, "") for table in sorted(tables)), *columns]
        return _build_links(pairs, (first, second))

    async def link_by_score(self, question: Question, context: SchemaContext) -> ModelLinks:
        """A short request a column, side by side; the columns scored 5 of 10 or more."""
        columns = [
            (hit.table, name, column)
            for hit, name in zip(context.tables, context.names, strict=True)
            for column in hit.table.columns
        ][:_MOST_SCORED]
        tables = ", ".join(sorted(context.names))
        gate = asyncio.Semaphore(_AT_ONCE)

        async def score(table: Table, name: str, column: Column) -> Completions:
            async with gate:
                text = render_column(table, name, column, context.dialect)
                return await self._ask(question, context, "score", tables=tables, column=text)

        # The first alone: the others then find the prefix that they share in the cache.
        answers = [await score(*column) for column in columns[:1]]
        answers += await gather_all(score(*column) for column in columns[1:])
        scores = [read_score(answer.texts[0]) for answer in answers]
        unread = scores.count(None)
        scored = [
            (table.qualified, column.name, value)
            for (table, _, column), value in zip(columns, scores, strict=True)
            if value is not None and value >= _LEAST_SCORE
        ]
        note = (
            f"{unread} of {len(scores)} scores could not be read"
            if unread * 2 > len(scores)
            else ""
        )
        scored.sort(key=lambda each: -each[2])
        return ModelLinks(() if note else tuple(scored), *_count_tokens(answers), note)

    async def _ask(
        self, question: Question, context: SchemaContext, name: str, **variables: str
    ) -> Completions:
        prompt = render_prompt(
            PROMPTS,
            name,
            dialect=context.dialect,
            question=question.text,
            hint=f"Hint: {question.evidence}" if question.evidence else "",
            **variables,
        )
        is_list = name != "score"
        return await self._engine.sample(
            SamplingRequest(
                prompt=prompt,
                k=1,
                seed=question.seed,
                temperature=0.0,
                max_tokens=_LIST_TOKENS if is_list else _SCORE_TOKENS,
                answer_start="```\n" if is_list else "",
                stop=("```",) if is_list else ("\n",),
            )
        )


def _build_links(pairs: Collection[tuple[str, str]], answers: Sequence[Completions]) -> ModelLinks:
    """The pairs as links that are certain, each column's table among them."""
    whole = dict.fromkeys((table, "") for table, _ in pairs)
    names = tuple((table, column, 1.0) for table, column in dict.fromkeys([*whole, *pairs]))
    note = "" if names else "The model named nothing that exists"
    return ModelLinks(names, *_count_tokens(answers), note)


def _count_tokens(answers: Sequence[Completions]) -> tuple[int, int]:
    return (
        sum(answer.prompt_tokens for answer in answers),
        sum(answer.completion_tokens for answer in answers),
    )
