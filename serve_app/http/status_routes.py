"""``GET /status``: for operators."""

from __future__ import annotations

from fastapi import FastAPI, Response

from quorumsql.contract.service_status import ServiceStatusResponse
from serve_app.http.callers import Caller
from serve_app.http.route_answers import describe_responses, render_model
from serve_app.service.status import StatusService

_STATUS = describe_responses("The state of the service.", ServiceStatusResponse, 403)


def add_status_routes(app: FastAPI, status: StatusService) -> None:
    """Adds the route."""

    @app.get("/status", summary="How is the service?", responses=_STATUS)
    async def read_status(principal: Caller) -> Response:
        return render_model(await status.read(principal))
