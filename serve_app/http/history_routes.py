"""What is kept of questions: ``/conversations`` and ``/feedback``."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from quorumsql.contract.feedback import (
    ExamResponse,
    FeedbackRequest,
    FeedbackResponse,
    ReviewResponse,
    TrialRequest,
    TrialResponse,
)
from quorumsql.contract.history import ConversationResponse, ConversationsResponse, DeletedResponse
from serve_app.http.disconnection import run_while_connected
from serve_app.http.route_parts import (
    TOO_LARGE,
    After,
    Caller,
    Limit,
    Search,
    describe_response,
    render_model,
)
from serve_app.service.feedback import FeedbackService
from serve_app.service.history import HistoryService
from serve_app.service.review import ReviewService
from serve_app.service.trials import TrialService

_CONVERSATIONS = describe_response(
    "A page of the principal's conversations, the latest first.", ConversationsResponse
)
_CONVERSATION = describe_response("The conversation.", ConversationResponse)
_DELETED = describe_response(
    "How much was deleted; a conversation that does not exist is no error.", DeletedResponse
)
_GIVEN = describe_response("An example was stored or removed, or was there already.")
_GIVEN[202] = {
    "description": "Recorded; no example was added or removed.",
    "model": FeedbackResponse,
}
_REVIEW = describe_response(
    "A page of feedback whose queries the principal may run; what is open, the gravest first.",
    ReviewResponse,
)
_WITHDRAWN = describe_response(
    "The feedback is taken back. The example that it gave is removed, unless other feedback of "
    "the same person gives it too; what its correction closed is open again.",
    status=204,
)
_EXAM = describe_response(
    "At most 20 questions that reviewers called right and whose queries you may run, those most "
    "like the entry's first.",
    ExamResponse,
)
_TRIAL = describe_response(
    "The answer as if the fix were kept, and whether it is right. Nothing is stored.", TrialResponse
)
_DONE = describe_response("The feedback is marked as done.", status=204)


def build_history_router(history: HistoryService) -> APIRouter:
    """The principal's own conversations."""
    router = APIRouter()

    @router.get("/conversations", summary="List your conversations", responses=_CONVERSATIONS)
    async def list_conversations(
        principal: Caller, search: Search = "", after: After = "", limit: Limit = 50
    ) -> Response:
        found = await history.list_latest(principal, search=search, after=after, most=limit)
        return render_model(found)

    @router.get("/conversations/{id}", summary="Show a conversation", responses=_CONVERSATION)
    async def show_conversation(id: str, principal: Caller) -> Response:  # noqa: A002
        return render_model(await history.load(principal, id))

    @router.delete("/conversations/{id}", summary="Delete a conversation", responses=_DELETED)
    async def delete_conversation(id: str, principal: Caller) -> Response:  # noqa: A002
        return render_model(await history.delete(principal, id))

    @router.delete("/conversations", summary="Delete all your conversations", responses=_DELETED)
    async def delete_conversations(principal: Caller) -> Response:
        return render_model(await history.delete(principal))

    return router


def build_feedback_router(feedback: FeedbackService) -> APIRouter:
    """Saying whether an answer is right."""
    router = APIRouter()

    @router.post(
        "/feedback", summary="Say whether an answer is right", responses=_GIVEN | TOO_LARGE
    )
    async def take(
        body: FeedbackRequest, response: Response, principal: Caller
    ) -> FeedbackResponse:
        taken = await feedback.take(body, principal)
        response.status_code = 202 if taken.outcome == "recorded" else 200
        return taken

    return router


def build_review_router(review: ReviewService, trials: TrialService) -> APIRouter:
    """Working through feedback, trying fixes, and taking it back."""
    router = APIRouter()

    @router.get("/feedback", summary="List feedback for review", responses=_REVIEW)
    async def list_feedback(
        principal: Caller,
        verdict: Literal["right", "wrong"] = "wrong",
        state: Literal["open", "done"] = "open",
        database: Annotated[str, Query(description="Only of this database.")] = "",
        after: After = "",
        limit: Limit = 50,
    ) -> Response:
        found = await review.list_entries(
            principal,
            verdict=verdict,
            state=state,
            database=database or None,
            after=after,
            most=limit,
        )
        return render_model(found)

    @router.delete(
        "/feedback/{id}",
        summary="Take feedback back",
        description="For the one who gave it, and for reviewers who may run its queries.",
        status_code=204,
        responses=_WITHDRAWN,
    )
    async def withdraw_feedback(id: str, principal: Caller) -> Response:  # noqa: A002
        await review.withdraw(id, principal)
        return Response(status_code=204)

    @router.post(
        "/feedback/{id}/done", summary="Mark feedback as done", status_code=204, responses=_DONE
    )
    async def close_feedback(id: str, principal: Caller) -> Response:  # noqa: A002
        await review.close(id, principal)
        return Response(status_code=204)

    @router.get(
        "/feedback/{id}/exam", summary="List the questions to try a fix on", responses=_EXAM
    )
    async def list_exam(id: str, principal: Caller) -> Response:  # noqa: A002
        return render_model(await trials.list_questions(id, principal))

    @router.post(
        "/feedback/{id}/trial", summary="Ask a question with a fix", responses=_TRIAL | TOO_LARGE
    )
    async def try_fix(
        id: str,  # noqa: A002
        body: TrialRequest,
        request: Request,
        principal: Caller,
    ) -> Response:
        asking = trials.ask(id, body, principal)
        return render_model(await run_while_connected(request.receive, asking))

    return router
