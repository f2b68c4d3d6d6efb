"""Converts answers and the events of a question to the models of the contract."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from nl2sql.answers import Answer, Answered, Clarify, Failed, Refused
from nl2sql.results.headings import name_columns
from nl2sql.results.json_values import to_json_value
from nl2sql.trace_rendering import build_trace
from nl2sql.types import (
    Assessment,
    CandidateAssessed,
    Interpretation,
    Progress,
    QuestionEvent,
    RepairTried,
    ResultSet,
    RowsFetched,
    VerifiedQuery,
    Violation,
    VoteCounted,
)
from quorumsql.contract.answers import (
    AnsweredResponse,
    AttemptResponse,
    ClarifyResponse,
    FailedResponse,
    InterpretationResponse,
    QueryResponse,
    RefusedResponse,
    ResultColumn,
    VerifiedResponse,
)
from quorumsql.contract.events import (
    CandidateEvent,
    ProgressEvent,
    RepairEvent,
    RowsEvent,
    StageEvent,
    VoteEvent,
)


def build_response(answer: Answer, *, trace: bool) -> QueryResponse:
    """The answer as clients get it, with its trace if ``trace`` is true."""
    question = answer.trace.question
    common = {
        "question": answer.trace.asked or question.text,
        "database": question.database,
        "session": question.session or None,
        "rewritten": question.text if answer.trace.asked else None,
        "notes": list(answer.trace.notes),
        "trace": build_trace(answer.trace) if trace else None,
    }
    match answer:
        case Answered():
            result = answer.result
            return AnsweredResponse(
                **common,
                sql=answer.sql,
                confidence=answer.confidence,
                quorum=answer.quorum,
                text=answer.text,
                text_source=answer.text_source,
                columns=build_columns(result),
                rows=build_rows(result),
                truncated=result.truncated,
                cut=[list(cell) for cell in result.cut],
                description=answer.description,
                verified=_render_verified(answer.verified),
            )
        case Refused():
            return RefusedResponse(
                **common,
                code=answer.code,
                reason=answer.reason,
                suggestions=list(answer.suggestions),
            )
        case Clarify():
            return ClarifyResponse(
                **common,
                reason=answer.reason,
                confidence=answer.confidence,
                interpretations=[
                    _build_interpretation(interpretation)
                    for interpretation in answer.interpretations
                ],
            )
        case Failed():
            return FailedResponse(
                **common,
                reason=answer.reason,
                attempts=[
                    AttemptResponse(
                        sql=attempt.sql,
                        origin=attempt.origin,
                        error=attempt.cause,
                        error_class=attempt.error_class,
                        suggestion=attempt.suggestion,
                    )
                    for attempt in answer.attempts
                ],
            )


# The kind of each event in a stream, known without rendering it.
EVENT_KINDS: dict[type, str] = {
    Progress: "stage",
    CandidateAssessed: "candidate",
    VoteCounted: "vote",
    RepairTried: "repair",
    RowsFetched: "rows",
}


def build_event(event: QuestionEvent) -> ProgressEvent:
    """What happened to a question, as a stream tells it."""
    match event:
        case Progress():
            return StageEvent(**asdict(event))
        case CandidateAssessed(assessment):
            status, reason = _judge(assessment)
            candidate = assessment.candidate
            return CandidateEvent(
                id=candidate.id,
                sql=candidate.sql,
                samples=candidate.samples,
                status=status,
                reason=reason,
            )
        case VoteCounted(ranking):
            leader = ranking.winner
            return VoteEvent(
                samples=ranking.samples,
                leader=leader.candidate.sql if leader else "",
                votes=leader.votes if leader else 0,
                quorum=ranking.quorum,
                settled=ranking.settled,
            )
        case RepairTried(repair):
            return RepairEvent(
                candidate=repair.candidate,
                method=repair.method,
                outcome=repair.outcome,
                sql=repair.sql,
            )
        case RowsFetched(sql, result):
            return RowsEvent(
                sql=sql,
                columns=build_columns(result),
                rows=build_rows(result),
                truncated=result.truncated,
            )


def _render_verified(verified: VerifiedQuery | None) -> VerifiedResponse | None:
    if verified is None:
        return None
    at = verified.given_at.isoformat(timespec="seconds")
    return VerifiedResponse(by=verified.given_by, at=at, source=verified.source)


def _judge(assessment: Assessment) -> tuple[Literal["accepted", "refused", "failed"], str]:
    if isinstance(assessment.verdict, Violation):
        return "refused", assessment.verdict.message
    if assessment.diagnostic is not None:
        return "failed", assessment.diagnostic.message
    return "accepted", ""


def _build_interpretation(interpretation: Interpretation) -> InterpretationResponse:
    result = interpretation.result
    return InterpretationResponse(
        sql=interpretation.sql,
        description=interpretation.description,
        share=interpretation.share,
        columns=build_columns(result) if result else [],
        rows=build_rows(result) if result else [],
        truncated=result is not None and result.truncated,
        cut=[list(cell) for cell in result.cut] if result else [],
    )


def build_columns(result: ResultSet) -> list[ResultColumn]:
    """The columns as clients get them."""
    return [
        ResultColumn(name=name, type=kind, heading=heading)
        for name, kind, heading in zip(
            result.columns, result.types, name_columns(result.columns, result.units), strict=True
        )
    ]


def build_rows(result: ResultSet) -> list[list[Any]]:
    """The rows as JSON values."""
    return [[to_json_value(value) for value in row] for row in result.rows]
