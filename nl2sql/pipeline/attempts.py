"""What was tried where nothing worked: every query, why it failed, and what to do about it."""

from __future__ import annotations

from collections import Counter

from nl2sql.answers import Attempt
from nl2sql.types import Ranking, Repair, Violation


def list_attempts(ranking: Ranking, repairs: tuple[Repair, ...]) -> tuple[Attempt, ...]:
    """The queries that failed, as the ranking has them; the repairs tell their classes.

    What a repair itself failed with is classified where that was tried to be repaired in turn.
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
    """How often what went wrong, and the advice for what went wrong most; empty for no classes.

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
