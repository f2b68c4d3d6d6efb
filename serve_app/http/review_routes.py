"""``GET /feedback`` and ``POST /feedback/{id}/done`` for reviewers, ``DELETE /feedback/{id}``."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import FastAPI, Query, Response

from quorumsql.contract.feedback import ReviewResponse
from serve_app.http.callers import Caller
from serve_app.http.route_answers import After, Limit, describe_responses, render_model
from serve_app.service.review import ReviewService

_LIST = describe_responses(
    "A page of feedback whose queries the principal may run, the latest first.",
    ReviewResponse,
    403,
    404,
)
_WITHDRAWN = describe_responses(
    "The feedback is taken back. The example that it gave is removed, unless other feedback under "
    "the same access gives it too; what its correction closed is open again.",
    None,
    404,
    status=204,
)
_DONE = describe_responses("The feedback is marked as done.", None, 403, 404, status=204)


def add_review_routes(app: FastAPI, review: ReviewService) -> None:
    """Adds the routes."""

    @app.get("/feedback", summary="List feedback for review", responses=_LIST)
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

    @app.delete(
        "/feedback/{id}",
        summary="Take feedback back",
        description="For the one who gave it, and for reviewers who may run its queries.",
        status_code=204,
        responses=_WITHDRAWN,
    )
    async def withdraw_feedback(id: str, principal: Caller) -> Response:  # noqa: A002
        await review.withdraw(id, principal)
        return Response(status_code=204)

    @app.post(
        "/feedback/{id}/done", summary="Mark feedback as done", status_code=204, responses=_DONE
    )
    async def close_feedback(id: str, principal: Caller) -> Response:  # noqa: A002
        await review.close(id, principal)
        return Response(status_code=204)
