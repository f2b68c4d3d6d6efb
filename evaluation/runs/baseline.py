"""The baseline: the whole schema as DDL, one greedy query, nothing else.

No retrieval, no plan, no vote, no repair. The query still passes the guard and the read-only
executor, so that only the generation of queries is compared.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from nl2sql.answers import Answer, Answered, Failed, StageTiming, Trace
from nl2sql.catalog import Catalog
from nl2sql.prompts import ANSWER_END, ANSWER_START, render_prompt
from nl2sql.prompts.contents import measure_context, reduce_context
from nl2sql.protocols import CatalogSource, Engine, Executor, Guard
from nl2sql.schema_text import render_schema
from nl2sql.settings.pipeline import SamplingSettings
from nl2sql.sql.extraction import extract_sql
from nl2sql.types import (
    Assessment,
    Candidate,
    Contents,
    Diagnostic,
    Prompt,
    Question,
    Ranking,
    RetrievedTable,
    SamplingRequest,
    SchemaContext,
    Violation,
)

PROMPTS = "evaluation.prompts"


@dataclass(frozen=True, slots=True)
class PlainBaseline:
    """Answers as ``Pipeline`` does, without its stages.

    ``sends`` is what prompts may hold.
    """

    engine: Engine
    catalogs: CatalogSource
    guard: Guard
    executor: Executor
    sampling: SamplingSettings
    sends: Contents = "schema"

    async def answer(self, question: Question) -> Answer:
        """One greedy query and its rows. Raises PromptTooLong, Unavailable."""
        start = time.perf_counter()
        catalog = await self.catalogs.catalog(question.database)
        prompt = build_plain_prompt(question, catalog, self.sends)
        completions = await self.engine.sample(
            SamplingRequest(
                prompt=prompt,
                k=1,
                seed=question.seed,
                temperature=0.0,
                max_tokens=self.sampling.max_tokens,
                answer_start=ANSWER_START,
                stop=(ANSWER_END,),
            )
        )
        generated = time.perf_counter()
        sql = extract_sql(completions.texts[0], catalog.dialect)
        assessment = await self._run(question, sql) if sql else None
        ranking = Ranking((assessment,) if assessment else (), samples=1)
        trace = Trace(
            question,
            prompts=(("plain", prompt),),
            ranking=ranking,
            timings=(
                StageTiming(
                    "generate",
                    (generated - start) * 1000,
                    completions.prompt_tokens,
                    completions.completion_tokens,
                ),
                StageTiming("execute", (time.perf_counter() - generated) * 1000),
            ),
        )
        if assessment is None:
            return Failed("The model wrote no query.", trace)
        if assessment.result is None:
            return Failed("The query could not be run.", trace)
        return Answered(sql, assessment.result, confidence=0.0, quorum=False, trace=trace)

    async def _run(self, question: Question, sql: str) -> Assessment:
        candidate = Candidate("c1", sql)
        verdict = await self.guard.guard(question.database, sql, question.principal)
        if isinstance(verdict, Violation):
            return Assessment(candidate, verdict)
        result = await self.executor.execute(verdict, question.max_rows)
        if isinstance(result, Diagnostic):
            return Assessment(candidate, verdict, diagnostic=result)
        return Assessment(candidate, verdict, result=result)


def build_plain_prompt(question: Question, catalog: Catalog, sends: Contents = "schema") -> Prompt:
    """The whole schema as DDL without comments, then the question."""
    context = SchemaContext(
        tables=tuple(RetrievedTable(table, 0.0) for table in catalog.tables),
        foreign_keys=catalog.foreign_keys,
        names=tuple(catalog.short_names[table.qualified] for table in catalog.tables),
        dialect=catalog.dialect,
    )
    context = reduce_context(context, sends)
    return render_prompt(
        PROMPTS,
        "plain",
        dialect=catalog.dialect,
        contains=measure_context(context),
        schema=render_schema(context, comments=False),
        hints=f"Hint: {question.evidence}\n" if question.evidence else "",
        question=question.text,
    )
