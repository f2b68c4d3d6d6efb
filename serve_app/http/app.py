"""The HTTP interface as a plain ASGI application over a ``QueryService``.

A request is checked in this order: host and origin, token, requests a
minute, body, route. An answer is JSON unless
the client prefers another media type: the rows alone in that format, with the rest in headers; or a
stream of events that reports progress. When a client disconnects, the work for it is cancelled.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response, Security
from fastapi.security import HTTPBearer
from starlette.routing import Route
from starlette.types import ASGIApp

from nl2sql.concurrency import running
from nl2sql.types import Principal
from quorumsql.contract.identity import StatusResponse
from serve_app.http.history_routes import (
    build_feedback_router,
    build_history_router,
    build_review_router,
)
from serve_app.http.middleware import add_middleware
from serve_app.http.openai.routes import build_router as build_openai_router
from serve_app.http.problems import RETRY_AFTER_S, install_problem_handlers
from serve_app.http.question_routes import build_question_router, build_run_router
from serve_app.http.responses import AnyTextJSONResponse
from serve_app.http.route_parts import ERRORS
from serve_app.http.schema_routes import build_schema_router
from serve_app.http.sign_in_routes import build_sign_in_router
from serve_app.http.trace_ids import TraceIds
from serve_app.mcp.endpoint import McpEndpoint
from serve_app.service.identity.identifier import Identifier
from serve_app.service.query_service import QueryService
from serve_app.service.services import Services

_READINESS_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Questions about at least one database can be answered; `parts` says which "
        "cannot. Without a token of a principal, only `ready`.",
        "model": StatusResponse,
    },
    503: {"description": "Not ready; the same body.", "model": StatusResponse},
}


def build_http_app(services: Services) -> ASGIApp:
    """The routes behind their front: hosts, origins, tokens, limits, bodies."""
    settings = services.settings
    return add_middleware(
        TraceIds(build_routes(services)),
        settings,
        identifier=services.identifier or Identifier(settings.identity),
        meter=services.meter,
    )


def build_routes(services: Services) -> FastAPI:
    """The routes of these services, which expect the principal in the scope's state."""
    settings, service = services.settings, services.queries

    @asynccontextmanager
    async def run(_: FastAPI) -> AsyncIterator[None]:
        # The engine prepares prompts even if nobody asks whether the service is ready.
        async with running(service.wait_until_ready()):
            yield

    # Identification reads the token; here it is only declared for /docs.
    token = HTTPBearer(auto_error=False, description="A token of one of the principals.")
    app = FastAPI(
        title="QuorumSQL",
        description="Questions in plain language, answered with guarded, read-only SQL. Every "
        "response has the header QuorumSQL-Trace-Id, which the log and traces contain too.",
        dependencies=[Security(token)] if settings.identity.needs_token else [],
        lifespan=run,
    )
    install_problem_handlers(app)

    own = APIRouter(responses=ERRORS)
    own.include_router(build_question_router(service))
    if services.feedback is not None:
        own.include_router(build_feedback_router(services.feedback))
    if services.page is not None:
        sign_ins = services.identifier.sign_ins if services.identifier else None
        own.include_router(build_sign_in_router(settings, sign_ins, services.page.profiles))
        own.include_router(build_schema_router(services.page.schema))
        own.include_router(build_run_router(services.tools))
        own.include_router(build_history_router(services.page.history))
        own.include_router(build_review_router(services.page.review, services.page.trials))
    app.include_router(own)
    app.include_router(build_openai_router(settings, service))
    app.router.routes.append(Route("/mcp", McpEndpoint(services), methods=["POST"]))
    app.include_router(_build_probe_router(service, settings.model.name))
    return app


def _build_probe_router(service: QueryService, model: str) -> APIRouter:
    router = APIRouter()

    @router.get("/healthz", summary="Is the process alive?")
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @router.get(
        "/readyz", summary="Can questions be answered right now?", responses=_READINESS_RESPONSES
    )
    async def readyz(request: Request) -> Response:
        parts = await service.readiness()
        ready = bool(service.list_ready(parts))
        body: dict[str, Any] = {"ready": ready}
        principal: Principal | None = request.state.principal
        # The parts name all databases.
        if principal is not None and not principal.access.databases:
            body = StatusResponse(
                ready=ready,
                parts={name: problem or "ok" for name, problem in parts.items()},
                model=model,
                preparing=service.preparing,
            ).model_dump()
        headers = None if ready else {"Retry-After": RETRY_AFTER_S}
        return AnyTextJSONResponse(body, status_code=200 if ready else 503, headers=headers)

    return router
