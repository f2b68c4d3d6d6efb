"""Stage 7: one repair for a failed candidate.

Where the guard could not read the query or does not know a function, another dialect is tried
first; else the model gets the query and its error, once. The repair is a candidate like any other:
it passes the guard again, and it has to win the vote.
"""

from __future__ import annotations

from nl2sql.prompts import render_prompt
from nl2sql.protocols import Engine
from nl2sql.schema_text import render_schema
from nl2sql.settings import Settings
from nl2sql.sql_text import extract_sql, normal_form
from nl2sql.types import (
    Assessment,
    Candidate,
    Prompt,
    Question,
    Repair,
    SamplingRequest,
    SchemaContext,
    Violation,
)
from repair.normalize import normalize_dialect

PROMPTS = "repair.prompts"
_DIALECT_CODES = frozenset({"unparsable", "function_not_allowed", "type_not_allowed"})


class CandidateRepairer:
    """Repairs by rule or by the model."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings

    async def repair(
        self, question: Question, context: SchemaContext, failed: Assessment
    ) -> tuple[Candidate | None, Repair]:
        """A new candidate, or None with the reason in the repair. Raises EngineUnavailable."""
        cause = describe_failure(failed)
        sql, method = self._normalize(failed), "normalize"
        if not sql:
            sql, method = await self._ask(question, context, failed, cause), "model"
        name = failed.candidate.id
        if not sql or normal_form(sql) == normal_form(failed.candidate.sql):
            return None, Repair(name, cause, method, "none", sql)
        candidate = Candidate(
            id=f"{name}r", sql=sql, samples=failed.candidate.samples, origin="repair", repairs=name
        )
        return candidate, Repair(name, cause, method, "failed", sql)

    def _normalize(self, failed: Assessment) -> str:
        verdict = failed.verdict
        if not self._settings.flags.pg_normalize or not isinstance(verdict, Violation):
            return ""
        if verdict.code not in _DIALECT_CODES:
            return ""
        return normalize_dialect(failed.candidate.sql) or ""

    async def _ask(
        self, question: Question, context: SchemaContext, failed: Assessment, cause: str
    ) -> str:
        completions = await self._engine.sample(
            SamplingRequest(
                prompt=self.build_prompt(question, context, failed, cause),
                k=1,
                seed=question.seed,
                temperature=0.0,
                max_tokens=self._settings.sampling.max_tokens,
                answer_start="```sql\n",
                stop=("```",),
            )
        )
        return extract_sql(completions.texts[0])

    def build_prompt(
        self, question: Question, context: SchemaContext, failed: Assessment, cause: str
    ) -> Prompt:
        """The repair prompt: schema, question, query, error."""
        return render_prompt(
            PROMPTS,
            "repair",
            schema=render_schema(
                context,
                comments=self._settings.flags.glosses,
                budget_chars=self._settings.schema_budget_chars,
            ),
            question=question.text,
            sql=failed.candidate.sql,
            error=cause,
        )


def describe_failure(failed: Assessment) -> str:
    """One line for the model and the trace: what the guard or the database said."""
    if isinstance(failed.verdict, Violation):
        return failed.verdict.message
    if failed.diagnostic is None:
        return ""
    hint = f" {failed.diagnostic.hint}" if failed.diagnostic.hint else ""
    return f"{failed.diagnostic.message}{hint} (SQLSTATE {failed.diagnostic.sqlstate})"
