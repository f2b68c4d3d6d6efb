"""Stage 7: one repair for a failed candidate.

By rule: another dialect, where the guard could not read the query or does not know a function, and
names put right. Or by the model, which gets the query and its error. The repair is a candidate like
any other: it passes the guard again, and it has to win the vote.
"""

from __future__ import annotations

import re
from functools import partial

from nl2sql.prompts import render_prompt
from nl2sql.protocols import Engine
from nl2sql.schema_text import SchemaWriter, TokenCounts
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
from repair.autocorrect import autocorrect_names
from repair.normalize import normalize_dialect

PROMPTS = "repair.prompts"
_NAME_CODES = frozenset({"unknown_column", "unknown_table"})
# Undefined column, undefined table, ambiguous column.
_NAME_STATES = frozenset({"42703", "42P01", "42702"})
_NAME = re.compile(r"\w+")
_DIALECT_CODES = frozenset({"unparsable", "function_not_allowed", "type_not_allowed"})


class CandidateRepairer:
    """Repairs by rule or by the model."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._writer = SchemaWriter(TokenCounts(engine), settings)

    async def repair(
        self, question: Question, context: SchemaContext, failed: Assessment, *, ask_model: bool
    ) -> tuple[Candidate | None, Repair]:
        """A new candidate, or None with the reason in the repair. Raises EngineUnavailable."""
        cause = describe_failure(failed)
        if ask_model:
            known = describe_columns(failed, context)
            sql, method = await self._ask(question, context, failed, f"{cause}{known}"), "model"
        else:
            sql, method = self._repair_by_rule(failed, context)
        name = failed.candidate.id
        if not sql or _same_form(sql, failed, context.dialect):
            return None, Repair(name, cause, method, "none", sql)
        candidate = Candidate(
            id=f"{name}r", sql=sql, samples=failed.candidate.samples, origin="repair", repairs=name
        )
        return candidate, Repair(name, cause, method, "failed", sql)

    def _repair_by_rule(self, failed: Assessment, context: SchemaContext) -> tuple[str, str]:
        """The repaired query and the rule that made it; an empty query when none applies."""
        sql, verdict = failed.candidate.sql, failed.verdict
        if not self._settings.flags.pg_normalize:
            return "", "none"
        code = verdict.code if isinstance(verdict, Violation) else ""
        if code in _DIALECT_CODES and (normalized := normalize_dialect(sql, context.dialect)):
            return autocorrect_names(normalized, context) or normalized, "normalize"
        if _has_unknown_name(failed) and (corrected := autocorrect_names(sql, context)):
            return corrected, "autocorrect"
        return "", "none"

    async def _ask(
        self, question: Question, context: SchemaContext, failed: Assessment, cause: str
    ) -> str:
        completions = await self._engine.sample(
            SamplingRequest(
                prompt=await self.build_prompt(question, context, failed, cause),
                k=1,
                seed=question.seed,
                temperature=0.0,
                max_tokens=self._settings.sampling.max_tokens,
                answer_start="```sql\n",
                stop=("```",),
            )
        )
        return extract_sql(completions.texts[0])

    async def build_prompt(
        self, question: Question, context: SchemaContext, failed: Assessment, cause: str
    ) -> Prompt:
        """The repair prompt: schema, question, query, error."""
        hint = f"\nHint: {question.evidence}" if question.evidence else ""
        render = partial(
            render_prompt,
            PROMPTS,
            "repair",
            dialect=context.dialect,
            question=f"{question.text}{hint}",
            sql=failed.candidate.sql,
            error=cause,
        )
        written = await self._writer.write(
            context,
            database=question.database,
            beside=[message.content for message in render(schema="").messages],
            answer_tokens=self._settings.sampling.max_tokens,
        )
        return render(schema=written.text)


def describe_columns(failed: Assessment, context: SchemaContext) -> str:
    """The columns of the tables that a query with an unknown name uses; else nothing.

    A small model that invented a name repeats it, unless it sees the real ones beside the error.
    """
    if not _has_unknown_name(failed):
        return ""
    words = set(_NAME.findall(failed.candidate.sql.lower()))
    lines = [
        f"{name} has only these columns: {', '.join(column.name for column in hit.table.columns)}."
        for hit, name in zip(context.tables, context.names, strict=True)
        if hit.table.name in words
    ]
    return "\n" + "\n".join(lines) if lines else ""


def _same_form(sql: str, failed: Assessment, dialect: str) -> bool:
    return normal_form(sql, dialect) == normal_form(failed.candidate.sql, dialect)


def _has_unknown_name(failed: Assessment) -> bool:
    if isinstance(failed.verdict, Violation):
        return failed.verdict.code in _NAME_CODES
    return failed.diagnostic is not None and failed.diagnostic.sqlstate in _NAME_STATES


def describe_failure(failed: Assessment) -> str:
    """One line for the model and the trace: what the guard or the database said."""
    if isinstance(failed.verdict, Violation):
        return failed.verdict.message
    if failed.diagnostic is None:
        return ""
    hint = f" {failed.diagnostic.hint}" if failed.diagnostic.hint else ""
    return f"{failed.diagnostic.message}{hint} (SQLSTATE {failed.diagnostic.sqlstate})"
