"""Links by the language model, with three techniques from the literature.

``full`` asks for the columns of all retrieved tables at once, ``tcsl`` first for the tables and
then for their columns, ``scsl`` for a score of each column (Maamari et al., "The Death of Schema
Linking?", 2024). The prompts of the first two begin like the prompt for the query, and those of
``scsl`` differ only in their last line, so that the engine's prefix cache serves their beginnings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import itemgetter

from nl2sql.catalog import Column, Table
from nl2sql.concurrency import gather_all
from nl2sql.prompts import render_prompt
from nl2sql.prompts.contents import measure_context, reduce_context
from nl2sql.protocols import Engine
from nl2sql.schema_text import render_schema
from nl2sql.types import Completions, Contents, Question, SamplingRequest, SchemaContext
from retrieval.linking.answers import read_names, read_score
from retrieval.linking.outline import keep_tables, render_column

PROMPTS = "retrieval.linking.prompts"
_LIST_TOKENS = 320
_SCORE_TOKENS = 4
# Columns scored for one question, those of the best tables first, and concurrent requests.
_MOST_SCORED = 400
_CONCURRENT = 32
_LEAST_SCORE = 0.5


@dataclass(frozen=True, slots=True)
class ModelLinks:
    """The model's links as (qualified table, column or "", score), and the tokens used.

    ``note`` says what was wrong if there are no links.
    """

    names: tuple[tuple[str, str, float], ...]
    prompt_tokens: int
    completion_tokens: int
    note: str = ""


class ModelLinker:
    """Asks the engine; has no state between questions. ``sends`` is what prompts may hold."""

    def __init__(self, engine: Engine, sends: Contents) -> None:
        self._engine = engine
        self._sends = sends

    async def link_full(self, question: Question, context: SchemaContext) -> ModelLinks:
        """Asks for columns of all retrieved tables in one request.

        Raises PromptTooLong, EngineUnavailable, like the other methods.
        """
        context = reduce_context(context, self._sends)
        answer = await self._ask(question, context, "columns", schema=render_schema(context))
        names = read_names(answer.texts[0], context)
        return _build_links(names, (answer,))

    async def link_tables_then_columns(
        self, question: Question, context: SchemaContext
    ) -> ModelLinks:
        """Asks for the tables first, then for their columns."""
        context = reduce_context(context, self._sends)
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
        """Asks for a score of each column concurrently; links those with at least 5 of 10."""
        context = reduce_context(context, self._sends)
        columns = [
            (hit.table, name, column)
            for hit, name in zip(context.tables, context.names, strict=True)
            for column in hit.table.columns
        ][:_MOST_SCORED]
        tables = ", ".join(sorted(context.names))
        slots = asyncio.Semaphore(_CONCURRENT)

        async def score(table: Table, name: str, column: Column) -> Completions:
            async with slots:
                text = render_column(table, name, column, context.dialect)
                return await self._ask(question, context, "score", tables=tables, column=text)

        # The first request fills the prefix cache for the others.
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
        scored.sort(key=itemgetter(2), reverse=True)
        return ModelLinks(() if note else tuple(scored), *_count_tokens(answers), note)

    async def _ask(
        self, question: Question, context: SchemaContext, name: str, **variables: str
    ) -> Completions:
        prompt = render_prompt(
            PROMPTS,
            name,
            dialect=context.dialect,
            contains=measure_context(context),
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
    """The pairs, and the tables of their columns, as links with score 1."""
    whole = dict.fromkeys((table, "") for table, _ in pairs)
    names = tuple((table, column, 1.0) for table, column in dict.fromkeys([*whole, *pairs]))
    note = "" if names else "The model named nothing that exists"
    return ModelLinks(names, *_count_tokens(answers), note)


def _count_tokens(answers: Sequence[Completions]) -> tuple[int, int]:
    return (
        sum(answer.prompt_tokens for answer in answers),
        sum(answer.completion_tokens for answer in answers),
    )
