"""One attempt to repair a failed candidate.

By rule: constructs of other dialects are translated, names and clauses corrected, misspelled names
replaced. Or by the model, which gets the query and its error, and those of all earlier versions.
The repair is a candidate like any other: it passes the guard again, and must win the vote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from nl2sql.prompts import ANSWER_END, ANSWER_START, render_prompt, render_text
from nl2sql.prompts.contents import measure_context, reduce_context
from nl2sql.protocols import Engine
from nl2sql.schema_text import SchemaWriter
from nl2sql.settings import StageSettings
from nl2sql.sql.extraction import extract_sql
from nl2sql.sql.literals import mask_texts
from nl2sql.sql.normal_form import normal_form
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import (
    Assessment,
    Candidate,
    Plan,
    Prompt,
    Question,
    Repair,
    SamplingRequest,
    SchemaContext,
)
from repair.autocorrect import autocorrect_query
from repair.corrected import Corrected
from repair.derive import derive_queries
from repair.normalize import normalize_dialect
from repair.taxonomy import UNREPAIRABLE, classify_failure, describe_class, describe_failure

PROMPTS = "repair.prompts"
_NO_PLAN = Plan()


class CandidateRepairer:
    """Repairs by rule or by the model."""

    def __init__(self, engine: Engine, settings: StageSettings) -> None:
        self._engine = engine
        self._settings = settings
        self._writer = SchemaWriter(engine, settings.model)

    async def repair(
        self,
        question: Question,
        context: SchemaContext,
        failed: Assessment,
        *,
        ask_model: bool = False,
        plan: Plan = _NO_PLAN,
        history: tuple[Assessment, ...] = (),
    ) -> tuple[Candidate | None, Repair]:
        """A new candidate, or None with the reason in the repair. Raises EngineUnavailable.

        ``history`` has the earlier versions of the candidate, the original first.
        """
        name, error = failed.candidate.id, classify_failure(failed)
        tried = [version.candidate.sql for version in (*history, failed)]
        made, method, is_known = Corrected("", ()), "none", True
        if error not in UNREPAIRABLE and ask_model:
            made, method = (
                Corrected(await self._ask(question, context, failed, history), ()),
                "model",
            )
            is_known = await run_in_parser_thread(_is_known, made.sql, tried, context.dialect)
        elif error not in UNREPAIRABLE:
            made, method, is_known = await run_in_parser_thread(
                self._try_rules, failed, context, plan, tried
            )
        repair = Repair(
            candidate=name,
            cause=describe_failure(failed),
            method=method,
            outcome="none",
            sql=made.sql,
            rules=made.rules,
            error_class=error,
            attempt=len(history) + 1,
        )
        if is_known:
            return None, repair
        return Candidate(f"{name}r", made.sql, samples=0, origin="repair", repairs=name), repair

    async def derive(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        parents: tuple[Candidate, ...],
        known: tuple[str, ...],
    ) -> tuple[Candidate, ...]:
        """Near neighbours of candidates that run, by rule; ``repair.derived`` is the most."""
        found = await run_in_parser_thread(
            partial(
                derive_queries,
                [parent.sql for parent in parents],
                question.search_text,
                context,
                plan,
                known=known,
                most=self._settings.repair.derived,
            )
        )
        names = [parent.id for parent in parents]
        names += [f"d{number}" for number in range(1, len(found) + 1)]
        return tuple(
            Candidate(
                id=f"d{number}",
                sql=derived.sql,
                samples=0,
                origin="derived",
                derived_from=names[derived.parent],
                rule=derived.rule,
            )
            for number, derived in enumerate(found, start=1)
        )

    def _try_rules(
        self, failed: Assessment, context: SchemaContext, plan: Plan, tried: Iterable[str]
    ) -> tuple[Corrected, str, bool]:
        """The query repaired by rule, the method, and whether the query was tried before.

        The query is empty if no rule applies.
        """
        flags, sql = self._settings.flags, failed.candidate.sql
        made, method = Corrected("", ()), "none"
        tables = tuple(hit.table for hit in context.tables)
        if flags.dialect_normalize:
            normalized = normalize_dialect(sql, context.dialect, tables=tables)
            made, method = (normalized, "normalize") if normalized else (made, method)
        if flags.autocorrect:
            corrected = autocorrect_query(made.sql or sql, context, plan)
            if corrected:
                method = method if made.rules else "autocorrect"
                made = Corrected(corrected.sql, made.rules + corrected.rules)
        return made, method, _is_known(made.sql, tried, context.dialect)

    async def _ask(
        self,
        question: Question,
        context: SchemaContext,
        failed: Assessment,
        history: tuple[Assessment, ...],
    ) -> str:
        completions = await self._engine.sample(
            SamplingRequest(
                prompt=await self.build_prompt(question, context, (*history, failed)),
                k=1,
                seed=question.seed,
                temperature=0.0,
                max_tokens=self._settings.sampling.max_tokens,
                answer_start=ANSWER_START,
                stop=(ANSWER_END,),
            )
        )
        return await run_in_parser_thread(extract_sql, completions.texts[0], context.dialect)

    async def build_prompt(
        self, question: Question, context: SchemaContext, versions: tuple[Assessment, ...]
    ) -> Prompt:
        """The repair prompt: schema, question, and every attempt with its error.

        Where no cell values may be sent, the attempts show only texts that the user wrote, and the
        class of the error instead of its message.
        """
        allowed = self._settings.model.sends
        context = reduce_context(context, allowed)
        told = [(version.candidate.sql, describe_failure(version)) for version in versions]
        if allowed == "schema":
            known = "\n".join((question.search_text, *_list_names(context)))
            masked = await run_in_parser_thread(
                lambda: [mask_texts(sql, context.dialect, known) for sql, _ in told]
            )
            told = list(zip(masked, map(describe_class, versions), strict=True))
        attempts = "\n\n".join(
            render_text(PROMPTS, "attempt", number=str(number), sql=sql, error=error)
            for number, (sql, error) in enumerate(told, start=1)
        )
        hint = f"\nHint: {question.evidence}" if question.evidence else ""
        render = partial(
            render_prompt,
            PROMPTS,
            "repair",
            dialect=context.dialect,
            contains=measure_context(context) if allowed == "schema" else "values",
            question=f"{question.text}{hint}",
            attempts=attempts,
        )
        written = await self._writer.write(
            context,
            beside=[message.content for message in render(schema="").messages],
            answer_tokens=self._settings.sampling.max_tokens,
        )
        return render(schema=written.text)


def _list_names(context: SchemaContext) -> Iterator[str]:
    for hit in context.tables:
        yield hit.table.name
        yield from (column.name for column in hit.table.columns)


def _is_known(sql: str, others: Iterable[str], dialect: str) -> bool:
    """Whether the query is one of the others, or empty."""
    return not sql or normal_form(sql, dialect) in {normal_form(other, dialect) for other in others}
