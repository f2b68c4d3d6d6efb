"""Feedback: checked and passed on. Knows nothing of FastAPI."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from nl2sql.deadline import ending_in
from nl2sql.errors import DeadlineExceeded, InvalidRequest
from nl2sql.types import Principal
from quorumsql.contract.feedback import (
    FeedbackRequest,
    FeedbackResponse,
    ParameterResponse,
    WithheldResponse,
)
from retrieval.examples.feedback import FeedbackReceipt, FeedbackRecorder
from retrieval.examples.records import MOST_CHARS
from retrieval.index_store.feedback_store import Feedback, build_note
from serve_app.service.admission import AdmissionController
from serve_app.service.request_checks import MOST_QUESTION_CHARS, check_filled, check_text
from serve_app.service.review import ReviewService
from serve_app.service.rights import may_review
from serve_app.settings import Settings


@dataclass(frozen=True, slots=True)
class FeedbackService:
    """Checks feedback against the limits and passes it on.

    In ``review`` a correction closes what was said of the same answer before.
    """

    settings: Settings
    taker: FeedbackRecorder
    admission: AdmissionController
    review: ReviewService | None = None

    async def take(self, request: FeedbackRequest, principal: Principal) -> FeedbackResponse:
        """Records the feedback and returns its outcome.

        Raises InvalidRequest, also for a query that is not allowed to the principal or fails;
        UnknownDatabase, Unavailable, DeadlineExceeded.
        """
        feedback = build_feedback(request, self.settings, principal)
        seconds = self.settings.limits.request_timeout_ms / 1000
        try:
            async with ending_in(seconds), self.admission.take(principal.name):
                receipt = await self.taker.take_feedback(feedback)
        except DeadlineExceeded as error:
            raise DeadlineExceeded(
                f"The feedback was not stored within {seconds:.0f} seconds.", hint="Send it again."
            ) from error
        note = build_note(feedback, datetime.now(UTC))
        if self.review and feedback.correction and receipt.outcome != "refused":
            await self.review.close_corrected(note, feedback)
        field = "correction" if feedback.correction else "sql"
        return _render_receipt(
            receipt, note.id, field, self.settings.by_name[feedback.database].dialect
        )


def build_feedback(request: FeedbackRequest, settings: Settings, principal: Principal) -> Feedback:
    """Checks the request and fills in defaults. Raises InvalidRequest."""
    most = min(MOST_QUESTION_CHARS, MOST_CHARS)
    correction, is_right = request.correction or "", request.verdict == "right"
    if request.parameters and not may_review(settings, principal):
        raise InvalidRequest("Only reviewers give queries parameters.", field="parameters")
    if correction and is_right:
        raise InvalidRequest("A right query needs no correction.", field="correction")
    return Feedback(
        database=settings.database_name(request.database, principal),
        question=check_filled("question", request.question, most),
        sql=(check_filled if is_right else check_text)("sql", request.sql, MOST_CHARS),
        is_right=is_right,
        principal=principal,
        correction=check_filled("correction", correction, MOST_CHARS) if correction else "",
        is_reviewed=may_review(settings, principal),
        parameters=None if request.parameters is None else tuple(request.parameters),
    )


def _render_receipt(
    receipt: FeedbackReceipt, id_: str, field: str, dialect: str
) -> FeedbackResponse:
    if receipt.outcome == "refused":
        raise InvalidRequest(f"It cannot become an example: {receipt.reason}", field=field)
    proposed = [
        ParameterResponse(
            name=each.name,
            phrase=each.phrase,
            type=each.parameter.type,
            column=each.parameter.column,
            literal=each.parameter.build_literal(each.parameter.default, dialect).sql(dialect),
            chosen=each.name in receipt.chosen,
        )
        for each in receipt.proposed.offered
    ]
    return FeedbackResponse(
        outcome=receipt.outcome,
        example=receipt.example,
        id=id_,
        parameters=proposed,
        withheld=[
            WithheldResponse(literal=literal, reason=reason)
            for literal, reason in receipt.proposed.withheld
        ],
        marked=receipt.marked.sql if receipt.marked else "",
    )
