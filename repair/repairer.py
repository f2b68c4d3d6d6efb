"""One attempt to repair a failed candidate by rule.

Constructs of other dialects are translated, names and clauses corrected, misspelled names replaced.
The repair is a candidate like any other: it passes the guard again, and must win the vote.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from nl2sql.settings import StageSettings
from nl2sql.sql.normal_form import normal_form
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import (
    Assessment,
    Candidate,
    Plan,
    Question,
    Repair,
    SchemaContext,
)
from repair.autocorrect import autocorrect_query
from repair.corrected import Corrected
from repair.derive import derive_queries
from repair.normalize import normalize_dialect
from repair.taxonomy import UNREPAIRABLE, classify_failure, describe_failure

_NO_PLAN = Plan()


class CandidateRepairer:
    """Repairs by rule."""

    def __init__(self, settings: StageSettings) -> None:
        self._settings = settings

    async def repair(
        self,
        question: Question,
        context: SchemaContext,
        failed: Assessment,
        *,
        plan: Plan = _NO_PLAN,
        history: tuple[Assessment, ...] = (),
    ) -> tuple[Candidate | None, Repair]:
        """A new candidate, or None with the reason in the repair.

        ``history`` has the earlier versions of the candidate, the original first.
        """
        name, error = failed.candidate.id, classify_failure(failed)
        tried = [version.candidate.sql for version in (*history, failed)]
        made, method, is_known = Corrected("", ()), "none", True
        if error not in UNREPAIRABLE:
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


def _is_known(sql: str, others: Iterable[str], dialect: str) -> bool:
    """Whether the query is one of the others, or empty."""
    return not sql or normal_form(sql, dialect) in {normal_form(other, dialect) for other in others}
