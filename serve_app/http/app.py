"""The HTTP interface as a plain ASGI application over a ``QueryService``.

A request is checked in this order: host and origin, token, body, route. An answer is JSON unless
the client prefers another media type: the rows alone in that format, with the rest in headers; or a
stream of events that reports progress. When a client disconnects, the work for it is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from fastapi import FastAPI, Request, Response, Security
from fastapi.security import HTTPBearer
from starlette.routing import Route
from starlette.types import ASGIApp

from nl2sql.answers import Answer, Answered
from nl2sql.protocols import Observer
from nl2sql.rendering import build_response
from nl2sql.settings import Settings
from nl2sql.sql.threads import run_in_results_thread
from nl2sql.trace_rendering import build_pace
from nl2sql.types import Principal
from quorumsql.contract import (
    FeedbackRequest,
    FeedbackResponse,
    QueryRequest,
    QueryResponse,
    TranslateResponse,
)
from quorumsql.contract.answers import drop_rows
from quorumsql.contract.status import StatusResponse
from serve_app.composition.access import AccessParts
from serve_app.http.callers import Caller, LastEventId, Priority
from serve_app.http.disconnection import run_while_connected
from serve_app.http.event_stream import (
    EVENT_STREAM,
    QUERY_ID,
    SILENCE_S,
    EventStream,
    FollowedStream,
    record,
)
from serve_app.http.formats import MEDIA_TYPES, Format, describe_answer, export_answer, find_format
from serve_app.http.middleware import pick_front_settings, surround
from serve_app.http.negotiation import choose_media_type
from serve_app.http.openai.routes import build_router as build_openai_router
from serve_app.http.page_routes import add_page_routes
from serve_app.http.problems import install_problem_handlers, render_problem
from serve_app.http.responses import (
    AnyTextJSONResponse,
    Parts,
    PartsResponse,
    RenderedRows,
    render_json,
    render_with_rows,
)
from serve_app.http.trace_ids import TraceIds
from serve_app.mcp.endpoint import McpEndpoint
from serve_app.mcp.tools import Services
from serve_app.service.feedback import FeedbackService
from serve_app.service.identity.identifier import Identifier
from serve_app.service.page_services import PageServices
from serve_app.service.query_service import QueryService
from serve_app.service.sessions import Forgotten, SessionService
from serve_app.service.tools import ToolService

# Unfinished bodies beside as many requests as are admitted and wait. Our middleware in Ray's proxy
# collects bodies first; but on a busy machine it takes a while to fetch many of them from there.
_SPARE_BODIES = 128

_SERVED = (*MEDIA_TYPES, EVENT_STREAM)

_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer as JSON, or its rows in the accepted format, with the headers "
        "QuorumSQL-SQL (percent-encoded), -Database, -Confidence, -Quorum, -Truncated, -Cut-Cells; "
        "in a session -Session, -Rewritten and -Notes (percent-encoded). "
        "As events: `stage` for "
        "each progress, then `answer` with the JSON, or `problem`.",
        "model": QueryResponse,
        "content": {media_type: {} for media_type in _SERVED if media_type != "application/json"},
    },
    400: {"description": "The body is not UTF-8."},
    404: {"description": "There is no such database."},
    406: {"description": "No accepted format is served."},
    422: {"description": "The request is invalid, or there are no rows to export."},
    429: {"description": "A limit of the principal is reached; Retry-After says when to go on."},
}


_TRANSLATE_RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"description": "The body is not UTF-8."},
    200: {"description": "The SQL, or why there is none."},
    404: {"description": "There is no such database."},
    422: {"description": "The request is invalid."},
    503: {"description": "A dependency does not answer; try again later."},
}


_EVENTS_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The events of `POST /query` as a stream, from the first or from after "
        "`Last-Event-ID`; with the right to watch only, none that holds rows.",
        "content": {EVENT_STREAM: {}},
    },
    404: {"description": "No such question is known here, or it is another principal's."},
}


_FEEDBACK_RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"description": "The body is not UTF-8."},
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


_READINESS_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Questions about at least one database can be answered; `parts` says which "
        "cannot. Without a token of a principal, only `ready`.",
        "model": StatusResponse,
    },
    503: {"description": "Not ready; the same body.", "model": StatusResponse},
}


def build_http_app(
    settings: Settings,
    service: QueryService,
    *,
    feedback: FeedbackService | None = None,
    sessions: SessionService | None = None,
    tools: ToolService | None = None,
    page: PageServices | None = None,
    access: AccessParts | None = None,
) -> ASGIApp:
    """The routes behind their front: hosts, origins, tokens, limits, bodies.

    Without ``access`` only static tokens are known, and requests are not limited.
    """
    app = build_routes(
        settings, service, feedback=feedback, sessions=sessions, tools=tools, page=page
    )
    serve = settings.serve
    return surround(
        TraceIds(app, service.recorder.trace_id),
        pick_front_settings(settings),
        most_open_bodies=serve.max_ongoing_requests + serve.max_waiting_requests + _SPARE_BODIES,
        identifier=access.identifier if access else Identifier(settings.identity),
        meter=access.meter if access else None,
    )


def build_routes(
    settings: Settings,
    service: QueryService,
    *,
    feedback: FeedbackService | None = None,
    sessions: SessionService | None = None,
    tools: ToolService | None = None,
    page: PageServices | None = None,
) -> FastAPI:
    """Serves ``/query``, ``/healthz`` and ``/readyz``; ``/feedback``, ``/sessions`` if given.

    With ``tools`` it serves ``/mcp`` as well, with ``page`` the routes that the page uses.

    The principal is expected in the scope's state.
    """

    @asynccontextmanager
    async def run(_: FastAPI) -> AsyncIterator[None]:
        # The engine prepares prompts even if nobody asks whether the service is ready.
        waiting = asyncio.create_task(service.wait_until_ready())
        try:
            yield
        finally:
            waiting.cancel()
            await asyncio.wait((waiting,))

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

    async def export(
        body: QueryRequest,
        request: Request,
        principal: Principal,
        format_: Format,
        *,
        is_batch: bool,
    ) -> Response:
        work = service.query(body, principal, is_batch=is_batch)
        answer = await run_while_connected(request.receive, work)
        if not isinstance(answer, Answered):
            members = build_response(answer, trace=False).model_dump(include={"outcome", "code"})
            return render_problem(422, "No rows", answer.reason, members=members)
        content = await run_in_results_thread(
            export_answer, answer, format_, spreadsheet_safe=body.spreadsheet_safe
        )
        headers = describe_answer(answer) | {"Content-Disposition": format_.disposition}
        return PartsResponse((content,), format_.media_type, headers)

    @app.post("/query", summary="Answer a question", responses=_RESPONSES)
    async def query(
        body: QueryRequest,
        request: Request,
        principal: Caller,
        priority: Priority = "people",
    ) -> Response:
        is_batch = priority == "batch"
        accept = ", ".join(request.headers.getlist("accept"))
        media_type = choose_media_type(accept, _SERVED)
        if media_type is None:
            served = ", ".join(_SERVED)
            return render_problem(406, "Not acceptable", f"Answers are served as {served}.")
        format_ = find_format(media_type)
        if format_ is not None:
            return await export(body, request, principal, format_, is_batch=is_batch)
        running = service.running.open(principal, body.database)

        async def work(observer: Observer, rows: RenderedRows) -> Parts:
            answer = await service.query(
                body,
                principal,
                observer,
                in_detail=media_type == EVENT_STREAM,
                is_batch=is_batch,
            )
            return await run_in_results_thread(_render, answer, rows, trace=body.trace)

        if media_type == EVENT_STREAM:
            return EventStream(running, work)
        content = await run_while_connected(request.receive, record(running, work))
        return PartsResponse(content, media_type, {QUERY_ID: running.id})

    @app.post("/translate", summary="Translate a question into SQL", responses=_TRANSLATE_RESPONSES)
    async def translate(
        body: QueryRequest,
        request: Request,
        principal: Caller,
        priority: Priority = "people",
    ) -> TranslateResponse:
        if body.max_rows is None:
            # The rows are not sent, so they are not read.
            body = body.model_copy(update={"max_rows": 1})
        work = service.query(body, principal, is_batch=priority == "batch")
        answer = await run_while_connected(request.receive, work)
        return drop_rows(build_response(_leave_out_rows(answer), trace=body.trace))

    @app.get("/queries/{name}/events", summary="Follow a question", responses=_EVENTS_RESPONSES)
    async def follow(name: str, principal: Caller, last_event_id: LastEventId = "") -> Response:
        # A longer number is none of ours; Python converts none of more than 4,300 digits.
        is_number = last_event_id.isdecimal() and len(last_event_id) < 20
        after = int(last_event_id) if is_number else 0
        events = await service.running.follow(name, principal, silence_s=SILENCE_S, after=after)
        return FollowedStream(name, events)

    app.include_router(build_openai_router(settings, service))
    if feedback is not None:
        _add_feedback(app, feedback)
    if sessions is not None:
        _add_sessions(app, sessions)
    if page is not None:
        add_page_routes(app, settings, page)
    if tools is not None:
        endpoint = McpEndpoint(Services(settings, service, tools))
        app.router.routes.append(Route("/mcp", endpoint, methods=["POST"]))

    @app.get("/healthz", summary="Is the process alive?")
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @app.get(
        "/readyz", summary="Can questions be answered right now?", responses=_READINESS_RESPONSES
    )
    async def readyz(request: Request) -> Response:
        parts = await service.readiness()
        ready = bool(service.list_ready(parts))
        body: dict[str, Any] = {"ready": ready}
        principal: Principal | None = request.state.principal
        # The parts name all databases.
        if principal is not None and not principal.access.databases:
            pace = await service.pace()
            body = StatusResponse(
                ready=ready,
                parts={name: problem or "ok" for name, problem in parts.items()},
                pace=build_pace(pace) if pace else None,
                figures=service.recorder.figures.read(),
            ).model_dump()
        return AnyTextJSONResponse(body, status_code=200 if ready else 503)

    return app


def _render(answer: Answer, rows: RenderedRows, *, trace: bool) -> Parts:
    response = build_response(_leave_out_rows(answer), trace=trace)
    if isinstance(answer, Answered):
        return render_with_rows(response, rows.render(answer.result))
    return (render_json(response.model_dump()),)


def _leave_out_rows(answer: Answer) -> Answer:
    if not isinstance(answer, Answered):
        return answer
    return replace(answer, result=replace(answer.result, rows=()))


def _add_feedback(app: FastAPI, feedback: FeedbackService) -> None:
    @app.post("/feedback", summary="Say whether an answer is right", responses=_FEEDBACK_RESPONSES)
    async def take(
        body: FeedbackRequest, response: Response, principal: Caller
    ) -> FeedbackResponse:
        taken = await feedback.take(body, principal)
        response.status_code = 202 if taken.outcome == "recorded" else 200
        return taken


def _add_sessions(app: FastAPI, sessions: SessionService) -> None:
    @app.delete(
        "/sessions/{session}", summary="Forget a conversation", responses=_SESSION_RESPONSES
    )
    async def forget(session: str, principal: Caller) -> Forgotten:
        return await sessions.forget(session, principal)
