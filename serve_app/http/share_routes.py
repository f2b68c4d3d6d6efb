"""``/shares``: links to queries."""

from __future__ import annotations

from fastapi import FastAPI, Response

from quorumsql.contract.history import (
    OwnSharesResponse,
    SharedResponse,
    ShareRequest,
    ShareResponse,
)
from serve_app.http.callers import Caller
from serve_app.http.route_answers import After, Limit, describe_responses, render_model
from serve_app.service.shares import ShareService

_OWN = describe_responses(
    "A page of the principal's own shares that have not ended, the latest first.",
    OwnSharesResponse,
)
_SHARED = describe_responses("The id of the share.", SharedResponse, 404)
_SHARE = describe_responses(
    "The share, whose query `POST /run` runs as the principal.", ShareResponse, 403, 404
)
_DELETED = describe_responses("The share is deleted.", None, 404, status=204)


def add_share_routes(app: FastAPI, shares: ShareService) -> None:
    """Adds the routes."""

    @app.post("/shares", summary="Share a query", responses=_SHARED)
    async def share(body: ShareRequest, principal: Caller) -> Response:
        return render_model(await shares.add(body, principal))

    @app.get("/shares", summary="List the own shares", responses=_OWN)
    async def list_shares(principal: Caller, after: After = "", limit: Limit = 50) -> Response:
        return render_model(await shares.list_own(principal, after=after, most=limit))

    @app.get("/shares/{id}", summary="Open a share", responses=_SHARE)
    async def open_share(id: str, principal: Caller) -> Response:  # noqa: A002
        return render_model(await shares.show(id, principal))

    @app.delete("/shares/{id}", summary="End an own share", status_code=204, responses=_DELETED)
    async def delete_share(id: str, principal: Caller) -> Response:  # noqa: A002
        await shares.delete(id, principal)
        return Response(status_code=204)
