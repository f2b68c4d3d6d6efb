"""The HTTP interface as a plain ASGI application over a ``QueryService``.

A request is checked in this order: host and origin, token, body, route. An answer is JSON unless
the client prefers another media type: the rows alone in that format, with the rest in headers; or a
stream of events that reports progress. When a client disconnects, the work for it is cancelled.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request, Response, Security
from fastapi.security import HTTPBearer
from starlette.types import ASGIApp

from nl2sql.answers import Answered
from nl2sql.errors import Unauthenticated
from nl2sql.protocols import Observer
from nl2sql.rendering import build_pace, build_response
from nl2sql.settings import Settings
from nl2sql.types import Principal
from quorumsql.contract import FeedbackRequest, FeedbackResponse, QueryRequest, QueryResponse
from serve_app.composition.access import AccessParts
from serve_app.http.disconnection import ClientGone, run_while_connected
from serve_app.http.event_stream import EVENT_STREAM, EventStream
from serve_app.http.formats import MEDIA_TYPES, describe_answer, export_answer, find_format
from serve_app.http.middleware import pick_front_settings, surround
from serve_app.http.negotiation import choose_media_type
from serve_app.http.problems import install_problem_handlers, render_problem
from serve_app.http.responses import AnyTextJSONResponse
from serve_app.service.feedback import FeedbackService
from serve_app.service.identity.identifier import Identifier
from serve_app.service.query_service import QueryService
from serve_app.service.sessions import Forgotten, SessionService

# nginx's status for a client that closed the request; only logs show it.
_CLIENT_GONE = 499

# Unfinished bodies at a time, where our middleware in Ray's proxy does not collect them first.
_MOST_OPEN_BODIES = 64

_SERVED = (*MEDIA_TYPES, EVENT_STREAM)

_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer as JSON, or its rows in the accepted format, with the headers "
        "QuorumSQL-SQL (percent-encoded), -Database, -Confidence, -Quorum, -Truncated, -Cut-Cells; "
        "in a session -Session, -Rewritten and -Notes (percent-encoded). As events: `stage` for "
        "each progress, then `answer` with the JSON, or `problem`.",
        "model": QueryResponse,
        "content": {media_type: {} for media_type in _SERVED if media_type != "application/json"},
    },
    406: {"description": "No accepted format is served."},
    422: {"description": "The request is invalid, or there are no rows to export."},
    429: {"description": "A limit of the principal is reached; Retry-After says when to go on."},
}


_FEEDBACK_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "An example was stored or removed, or was there already."},
    202: {"description": "Recorded; no example was added or removed.", "model": FeedbackResponse},
    401: {"description": "The request carries no known token."},
    404: {"description": "There is no such database."},
    413: {"description": "The body is too large."},
    422: {"description": "The request is invalid, or its query is not allowed or fails."},
    503: {"description": "The index or the database is unavailable; try again later."},
}


_SESSION_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The session is deleted, or did not exist."},
    401: {"description": "The request carries no known token."},
    422: {"description": "The id is not a valid session id."},
    503: {"description": "The index is unavailable; try again later."},
}


def build_http_app(
    settings: Settings,
    service: QueryService,
    *,
    feedback: FeedbackService | None = None,
    sessions: SessionService | None = None,
    access: AccessParts | None = None,
) -> ASGIApp:
    """The routes behind their front: hosts, origins, tokens, limits, bodies.

    Without ``access`` only static tokens are known, and requests are not limited.
    """
    app = build_routes(settings, service, feedback=feedback, sessions=sessions)
    return surround(
        app,
        pick_front_settings(settings),
        most_open_bodies=_MOST_OPEN_BODIES,
        identifier=access.identifier if access else Identifier(settings.identity),
        meter=access.meter if access else None,
    )


def build_routes(
    settings: Settings,
    service: QueryService,
    *,
    feedback: FeedbackService | None = None,
    sessions: SessionService | None = None,
) -> FastAPI:
    """Serves ``/query``, ``/healthz`` and ``/readyz``; ``/feedback`` and ``/sessions`` if given.

    The principal is expected in the scope's state.
    """
    # Identification reads the token; here it is only declared for /docs.
    token = HTTPBearer(auto_error=False, description="A token of one of the principals.")
    app = FastAPI(
        title="QuorumSQL",
        description="Questions in plain language, answered with guarded, read-only SQL.",
        dependencies=[Security(token)] if settings.identity.needs_token else [],
    )
    install_problem_handlers(app)

    @app.post("/query", summary="Answer a question", responses=_RESPONSES)
    async def query(body: QueryRequest, request: Request, principal: _Caller) -> Response:
        accept = ", ".join(request.headers.getlist("accept"))
        media_type = choose_media_type(accept, _SERVED)
        if media_type is None:
            served = ", ".join(_SERVED)
            return render_problem(406, "Not acceptable", f"Answers are served as {served}.")
        if media_type == EVENT_STREAM:

            async def work(observer: Observer) -> bytes:
                answer = await service.query(body, principal, observer)
                return bytes(_render(build_response(answer, trace=body.trace)).body)

            return EventStream(work)
        try:
            answer = await run_while_connected(request.receive, service.query(body, principal))
        except ClientGone:
            return Response(status_code=_CLIENT_GONE)
        format_ = find_format(media_type)
        if format_ is None:
            return _render(build_response(answer, trace=body.trace))
        if not isinstance(answer, Answered):
            members = build_response(answer, trace=False).model_dump(include={"outcome", "code"})
            return render_problem(422, "No rows", answer.reason, members=members)
        # In a thread, because the largest results take seconds to render.
        content = await asyncio.to_thread(
            export_answer, answer, format_, spreadsheet_safe=body.spreadsheet_safe
        )
        headers = describe_answer(answer) | {"Content-Disposition": format_.disposition}
        return Response(content, media_type=media_type, headers=headers)

    if feedback is not None:
        _add_feedback(app, feedback)
    if sessions is not None:
        _add_sessions(app, sessions)

    @app.get("/healthz", summary="Is the process alive?")
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @app.get("/readyz", summary="Can questions be answered right now?")
    async def readyz(request: Request, response: Response) -> dict[str, Any]:
        parts = await service.readiness()
        ready = not any(parts.values())
        response.status_code = 200 if ready else 503
        principal: Principal | None = request.state.principal
        # The parts name all databases.
        if principal is None or principal.access.databases:
            return {"ready": ready}
        body: dict[str, Any] = {
            "ready": ready,
            "parts": {name: problem or "ok" for name, problem in parts.items()},
        }
        if (pace := await service.pace()) is not None:
            body["pace"] = build_pace(pace).model_dump()
        return body

    return app


def _render(response: QueryResponse) -> AnyTextJSONResponse:
    return AnyTextJSONResponse(response.model_dump())


def _read_principal(request: Request) -> Principal:
    principal: Principal | None = request.state.principal
    if principal is None:
        # Only where the front was left out: it sets a principal or answers 401.
        raise Unauthenticated("The request was not identified.")
    return principal


_Caller = Annotated[Principal, Depends(_read_principal)]


def _add_feedback(app: FastAPI, feedback: FeedbackService) -> None:
    @app.post("/feedback", summary="Say whether an answer is right", responses=_FEEDBACK_RESPONSES)
    async def take(
        body: FeedbackRequest, response: Response, principal: _Caller
    ) -> FeedbackResponse:
        taken = await feedback.take(body, principal)
        response.status_code = 202 if taken.outcome == "recorded" else 200
        return taken


def _add_sessions(app: FastAPI, sessions: SessionService) -> None:
    @app.delete(
        "/sessions/{session}", summary="Forget a conversation", responses=_SESSION_RESPONSES
    )
    async def forget(session: str, principal: _Caller) -> Forgotten:
        return await sessions.forget(session, principal)
