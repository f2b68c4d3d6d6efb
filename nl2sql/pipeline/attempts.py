"""The queries that failed, with the cause of each failure and advice."""

from __future__ import annotations

from collections import Counter

from nl2sql.answers import Attempt
from nl2sql.types import Ranking, Repair, Violation


def list_attempts(ranking: Ranking, repairs: tuple[Repair, ...]) -> tuple[Attempt, ...]:
    """The failed queries in the ranking's order, with the error classes found by the repairs.

    The error of a failed repair has a class only if its repair was attempted in turn.
    """
    by_candidate = {repair.candidate: repair for repair in repairs}
    attempts = []
    for assessment in ranking.assessments:
        if not assessment.failed:
            continue
        repair = by_candidate.get(assessment.candidate.id)
        if isinstance(assessment.verdict, Violation):
            cause = assessment.verdict.message
        else:
            cause = assessment.diagnostic.message if assessment.diagnostic else ""
        attempts.append(
            Attempt(
                sql=assessment.candidate.sql,
                origin=assessment.candidate.origin,
                cause=cause,
                error_class=repair.error_class if repair else "",
                suggestion=repair.suggestion if repair else "",
            )
        )
    return tuple(attempts)


def describe_attempts(attempts: tuple[Attempt, ...]) -> str:
    """Counts the error classes and adds the advice for the commonest; empty without classes.

    >>> wrong = Attempt("SELECT x", "sample", "There is no x.", "unknown_column", "Use columns.")
    >>> describe_attempts((wrong, wrong))
    'What went wrong: unknown column (2). Use columns.'
    """
    classes = Counter(attempt.error_class for attempt in attempts if attempt.error_class)
    if not classes:
        return ""
    counted = ", ".join(
        f"{name.replace('_', ' ')} ({count})" for name, count in classes.most_common()
    )
    most = classes.most_common(1)[0][0]
    advice = next(attempt.suggestion for attempt in attempts if attempt.error_class == most)
    return f"What went wrong: {counted}. {advice}".strip()
