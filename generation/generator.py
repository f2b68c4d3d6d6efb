"""Stages 0 and 4: the gate, the prompt, and K candidates from one request to the engine."""

from __future__ import annotations

from generation.intent_gate import check_intent
from nl2sql.prompts import render_prompt
from nl2sql.protocols import Engine
from nl2sql.schema_text import render_schema
from nl2sql.settings import Settings
from nl2sql.sql_text import extract_sql, normal_form
from nl2sql.types import (
    Candidate,
    Generated,
    Plan,
    Prompt,
    Question,
    SamplingRequest,
    SchemaContext,
)

PROMPTS = "generation.prompts"
_MOST_LINKS_SHOWN = 8


class CandidateGenerator:
    """Turns a question and its schema into candidates, equal ones merged."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings

    async def gate(self, question: Question, context: SchemaContext) -> str:
        """The reason to refuse the question, or an empty string."""
        if not self._settings.flags.intent_gate:
            return ""
        return check_intent(context, self._settings.retrieval.min_similarity)

    async def sketch(self, question: Question, context: SchemaContext) -> str:
        """No draft yet."""
        return ""

    async def generate(self, question: Question, context: SchemaContext, plan: Plan) -> Generated:
        """Candidates in the order of their first sample. Raises EngineUnavailable."""
        prompt = self.build_prompt(question, context, plan)
        sampling = self._settings.sampling
        completions = await self._engine.sample(
            SamplingRequest(
                prompt=prompt,
                k=question.k,
                seed=question.seed,
                temperature=sampling.temperature if question.k > 1 else 0.0,
                max_tokens=sampling.max_tokens,
                answer_start="```sql\n",
                stop=("```",),
            )
        )
        return Generated(
            prompt=prompt,
            candidates=merge_candidates(completions.texts, context.dialect),
            prompt_tokens=completions.prompt_tokens,
            completion_tokens=completions.completion_tokens,
        )

    def build_prompt(self, question: Question, context: SchemaContext, plan: Plan) -> Prompt:
        """The prompt: schema first, then what the planner found, then the question."""
        settings = self._settings
        return render_prompt(
            PROMPTS,
            "generate",
            dialect=context.dialect,
            schema=render_schema(
                context,
                comments=settings.flags.glosses,
                budget_chars=settings.schema_budget_chars,
            ),
            hints=_render_hints(
                question.evidence, context, plan if settings.sampling.show_plan else Plan()
            ),
            question=question.text,
        )


def merge_candidates(texts: tuple[str, ...], dialect: str = "postgres") -> tuple[Candidate, ...]:
    """One candidate for each normal form; ``samples`` counts the texts that had it.

    >>> [(each.id, each.samples) for each in merge_candidates(("SELECT 1", "select 1;", "hm"))]
    [('c1', 2)]
    """
    merged: dict[str, tuple[str, int]] = {}
    for text in texts:
        if sql := extract_sql(text):
            form = normal_form(sql, dialect)
            first, count = merged.get(form, (sql, 0))
            merged[form] = (first, count + 1)
    return tuple(
        Candidate(id=f"c{number}", sql=sql, samples=count)
        for number, (sql, count) in enumerate(merged.values(), start=1)
    )


def _render_hints(evidence: str, context: SchemaContext, plan: Plan) -> str:
    names = {
        hit.table.qualified: name for hit, name in zip(context.tables, context.names, strict=True)
    }
    columns = [
        f"{names[link.table]}.{link.column}"
        for link in plan.links.links
        if link.column and link.table in names
    ][:_MOST_LINKS_SHOWN]
    lines = [f"Hint: {evidence}"] if evidence else []
    if columns:
        lines.append(f"Columns that may matter: {', '.join(columns)}")
    if plan.joins.skeleton:
        lines.append(f"Tables join like this, where needed:\n{plan.joins.skeleton}")
    return "".join(f"{line}\n" for line in lines)
