"""``POST /feedback``: checks feedback against the limits and passes it on.

Knows nothing of FastAPI, so that tests and the command line use it directly.
"""

from __future__ import annotations

from datetime import UTC, datetime

from nl2sql.deadline import ending_in
from nl2sql.errors import DeadlineExceeded, InvalidRequest
from nl2sql.protocols import FeedbackTaker
from nl2sql.settings import Settings
from nl2sql.types import Feedback, FeedbackReceipt, Principal
from nl2sql.types.question import MOST_CHARS
from quorumsql.contract import FeedbackRequest, FeedbackResponse
from retrieval.index_store.feedback_store import FeedbackStore, build_note
from serve_app.service.admission import AdmissionController
from serve_app.service.request_checks import MOST_QUESTION_CHARS, check_filled
from serve_app.service.rights import may_review


class FeedbackService:
    """Checks feedback against the limits and passes it on."""

    def __init__(
        self,
        settings: Settings,
        taker: FeedbackTaker,
        admission: AdmissionController,
        reviews: FeedbackStore | None = None,
    ) -> None:
        """``reviews``: where a correction closes what was said of the same answer before."""
        self._settings = settings
        self._taker = taker
        self._reviews = reviews
        self._admission = admission

    async def take(self, request: FeedbackRequest, principal: Principal) -> FeedbackResponse:
        """Records the feedback and returns its outcome.

        Raises InvalidRequest, also for a query that is not allowed to the principal or fails;
        UnknownDatabase, Unavailable, DeadlineExceeded.
        """
        feedback = build_feedback(request, self._settings, principal)
        seconds = self._settings.limits.request_timeout_ms / 1000
        try:
            async with ending_in(seconds), self._admission.take(principal.name):
                receipt = await self._taker.take_feedback(feedback)
        except DeadlineExceeded as error:
            raise DeadlineExceeded(
                f"The feedback was not stored within {seconds:.0f} seconds.", hint="Send it again."
            ) from error
        id_ = build_note(feedback, datetime.now(UTC)).id
        if self._reviews and feedback.correction and receipt.outcome != "refused":
            # What a reviewer corrects needs nobody to look at it again.
            is_reviewer = may_review(self._settings, principal)
            await self._reviews.close_corrected(id_, all_givers=is_reviewer)
        return _render(receipt, id_, "correction" if feedback.correction else "sql")


def build_feedback(request: FeedbackRequest, settings: Settings, principal: Principal) -> Feedback:
    """Checks the request and fills in defaults. Raises InvalidRequest."""
    most = min(MOST_QUESTION_CHARS, MOST_CHARS)
    correction = request.correction or ""
    if correction and request.verdict == "right":
        raise InvalidRequest("A right query needs no correction.", field="correction")
    return Feedback(
        database=settings.database_name(request.database, principal),
        question=check_filled("question", request.question, most),
        sql=check_filled("sql", request.sql, MOST_CHARS),
        is_right=request.verdict == "right",
        principal=principal,
        correction=check_filled("correction", correction, MOST_CHARS) if correction else "",
        is_reviewed=may_review(settings, principal),
    )


def _render(receipt: FeedbackReceipt, id_: str, field: str) -> FeedbackResponse:
    if receipt.outcome == "refused":
        raise InvalidRequest(f"It cannot become an example: {receipt.reason}", field=field)
    return FeedbackResponse(outcome=receipt.outcome, example=receipt.example, id=id_)
