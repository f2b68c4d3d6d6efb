"""Turns a ranking into an answer: the winner, a choice of interpretations, or a failure.

A failure lists the queries that failed, with the cause of each.
"""

from __future__ import annotations

from collections import Counter

from nl2sql.answers import Answer, Answered, Clarify, Failed, FailedAttempt, Refused, Trace
from nl2sql.types import NOT_PERMITTED, Assessment, Diagnostic, Ranking, Repair, Violation

# For who asks; the suggestion of an error class is for the model.
_ADVICE = "Name things as they are called in the data, or ask for one thing at a time."


def conclude(ranking: Ranking, trace: Trace) -> Answer:
    """The winner's answer, or the interpretations if its confidence is below the threshold."""
    winner = ranking.winner
    if winner is None or winner.result is None:
        if reason := _find_withheld(ranking):
            return Refused(NOT_PERMITTED, reason, trace)
        attempts = list_attempts(ranking, trace.repairs)
        return Failed(_describe_failure(ranking, attempts), trace, attempts)
    if ranking.confidence < ranking.threshold:
        reason = (
            f"The confidence, {ranking.confidence:.2f}, is too low for an answer. "
            if ranking.confidence
            else "What the model wrote does not answer this. "
        ) + (
            "Choose an interpretation, or ask more precisely."
            if len(ranking.interpretations) > 1
            else "Check the only interpretation found, or ask more precisely."
        )
        return Clarify(reason, ranking.confidence, ranking.interpretations, trace)
    is_verified = winner.candidate.origin == "verified"
    return Answered(
        sql=winner.candidate.sql,
        result=winner.result,
        confidence=ranking.confidence,
        quorum=ranking.quorum,
        trace=trace,
        description=ranking.description,
        verified=trace.context.verified if is_verified and trace.context else None,
    )


def _find_withheld(ranking: Ranking) -> str:
    """The message of the first violation for missing permission; empty if there is none."""
    for assessment in ranking.assessments:
        if isinstance(assessment.verdict, Violation) and assessment.verdict.code == NOT_PERMITTED:
            return assessment.verdict.message
    return ""


def _describe_failure(ranking: Ranking, attempts: tuple[FailedAttempt, ...]) -> str:
    if not ranking.assessments:
        return f"The model wrote no query. {_ADVICE}"
    too_large = sum(assessment.unrun == "estimate" for assessment in ranking.assessments)
    classes = Counter(attempt.error_class for attempt in attempts if attempt.error_class)
    counted = ", ".join(
        f"{name.replace('_', ' ')} ({count})" for name, count in classes.most_common()
    )
    first = next((" ".join(attempt.cause.split()) for attempt in attempts), "")
    return (
        f"None of the {len(ranking.assessments)} queries that were tried could be run"
        + (f"; {too_large} would read too many rows" if too_large else "")
        + (f". What went wrong: {counted}. " if counted else ". ")
        + (f"The first: {first.rstrip('.')}. " if first else "")
        + _ADVICE
    )


def list_attempts(ranking: Ranking, repairs: tuple[Repair, ...]) -> tuple[FailedAttempt, ...]:
    """The failed queries in the ranking's order, with the error classes found by the repairs.

    The error of a failed repair has a class only if its repair was attempted in turn.
    """
    found = {repair.candidate: repair.error_class for repair in repairs}
    return tuple(
        FailedAttempt(made.sql, made.origin, cause.message, found.get(made.id, ""))
        for made, cause in ((each.candidate, _find_cause(each)) for each in ranking.assessments)
        if cause is not None
    )


def _find_cause(assessment: Assessment) -> Violation | Diagnostic | None:
    """Why a candidate failed; None if it did not."""
    verdict = assessment.verdict
    return verdict if isinstance(verdict, Violation) else assessment.diagnostic


def name_definitions(answer: Answered) -> str:
    """``Revenue as defined in semantics.yaml.``; empty if the winner uses no definition."""
    trace = answer.trace
    winner = trace.ranking.winner if trace.ranking else None
    if winner is None or trace.context is None:
        return ""
    used = [
        definition
        for definition in trace.context.definitions
        if definition.name in winner.definitions
    ]
    if not used:
        return ""
    *others, last = dict.fromkeys(definition.name for definition in used)
    names = f"{', '.join(others)} and {last}" if others else last
    return f"{names[0].upper()}{names[1:]} as defined in {used[0].source}."
