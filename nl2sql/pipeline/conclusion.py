"""What answer a ranking amounts to: the winner, a choice of interpretations, or a failure."""

from __future__ import annotations

from nl2sql.answers import Answer, Answered, Attempt, Clarify, Failed, Refused, Trace
from nl2sql.pipeline.attempts import describe_attempts, list_attempts
from nl2sql.types import NOT_PERMITTED, Ranking, Violation


def conclude(ranking: Ranking, trace: Trace) -> Answer:
    """The answer, or below the ranking's threshold its interpretations."""
    winner = ranking.winner
    if winner is None or winner.result is None:
        if reason := _find_withheld(ranking):
            return Refused(NOT_PERMITTED, reason, trace)
        attempts = list_attempts(ranking, trace.repairs)
        return Failed(_describe_failure(ranking, attempts), trace, attempts)
    if ranking.confidence < ranking.threshold:
        reason = (
            f"The confidence is {ranking.confidence:.2f}, {ranking.threshold:.2f} is asked for. "
            + (
                "Choose what you mean, or say it more precisely."
                if len(ranking.interpretations) > 1
                else "Say more precisely what you want, or choose the only interpretation found."
            )
        )
        return Clarify(reason, ranking.confidence, ranking.interpretations, trace)
    return Answered(
        sql=winner.candidate.sql,
        result=winner.result,
        confidence=ranking.confidence,
        quorum=ranking.quorum,
        trace=trace,
    )


def _find_withheld(ranking: Ranking) -> str:
    """What the principal may not see of what the candidates asked for; empty if nothing."""
    for assessment in ranking.assessments:
        if isinstance(assessment.verdict, Violation) and assessment.verdict.code == NOT_PERMITTED:
            return assessment.verdict.message
    return ""


def _describe_failure(ranking: Ranking, attempts: tuple[Attempt, ...]) -> str:
    if not ranking.assessments:
        return "The model wrote no query."
    too_large = sum(assessment.unrun == "estimate" for assessment in ranking.assessments)
    told = describe_attempts(attempts)
    return (
        f"None of the {len(ranking.assessments)} queries that were tried could be run"
        + (f"; {too_large} would read too many rows" if too_large else "")
        + (f". {told}" if told else ".")
        + " Ask with the words of the tables you mean, or ask for more candidates."
    )
