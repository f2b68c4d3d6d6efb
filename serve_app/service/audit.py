"""The audit log: who asked what, which queries ran, and how it ended; never values of results.

Each question is recorded after its answer and before the answer is returned: an answer that cannot
be recorded is not given. Bound values of row filters and error messages, which can quote cells, are
not recorded. Literals in a query are: the question and the model wrote them.
"""

from __future__ import annotations

from datetime import UTC, datetime

from nl2sql.answers import Answer
from nl2sql.types import Assessment, GuardedQuery
from retrieval.index_store.audit_store import AuditEntry
from serve_app.service.account import Account, name_outcome


def build_entry(account: Account, outcome: Answer | BaseException) -> AuditEntry:
    """The entry of a question that ended now with an answer or an error."""
    question = account.question
    ran = [
        (assessment, assessment.verdict)
        for assessment in (account.ranking.assessments if account.ranking else ())
        if isinstance(assessment.verdict, GuardedQuery) and _has_run(assessment)
    ]
    chosen = [guarded for assessment, guarded in ran if assessment.candidate.sql == account.sql]
    name, code = name_outcome(outcome)
    return AuditEntry(
        asked_at=account.started,
        principal=question.principal.name,
        key=question.principal.access.key,
        database=question.database,
        session=question.session,
        question=question.text,
        outcome=name,
        code=code,
        sql=chosen[0].sql if chosen else "",
        predicates=list(chosen[0].predicates) if chosen else [],
        tables=list(chosen[0].tables) if chosen else [],
        executed=[guarded.sql for _, guarded in ran],
        row_count=account.rows,
        ms=(datetime.now(UTC) - account.started).total_seconds() * 1000,
    )


def _has_run(assessment: Assessment) -> bool:
    """Whether the database began to execute the query, instead of only planning it."""
    is_planned = assessment.explained is not None
    return assessment.result is not None or (is_planned and assessment.diagnostic is not None)
