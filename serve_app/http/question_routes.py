"""``POST /query`` and ``POST /translate``: questions."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request, Response

from nl2sql.answers import Answer, Answered
from nl2sql.protocols import Observer
from nl2sql.sql.threads import run_in_results_thread
from quorumsql.contract import QueryRequest, QueryResponse
from quorumsql.contract.answers import (
    AnsweredResponse,
    ClarifyResponse,
    TranslatedResponse,
    TranslateResponse,
)
from serve_app.http.disconnection import run_while_connected
from serve_app.http.event_stream import EVENT_STREAM, stream_answer
from serve_app.http.formats import MEDIA_TYPES, find_format
from serve_app.http.problems import render_problem
from serve_app.http.responses import (
    Parts,
    PartsResponse,
    render_json,
    render_rows,
    render_with_rows,
)
from serve_app.http.route_parts import (
    NO_FORMAT,
    TOO_LARGE,
    Caller,
    choose_response_type,
    describe_response,
    export_rows,
)
from serve_app.service.query_service import QueryService
from serve_app.service.rendering import build_response

_SERVED = (*MEDIA_TYPES, EVENT_STREAM)

_QUERY = describe_response(
    "The answer as JSON, or its rows in the accepted format, with the headers QuorumSQL-SQL "
    "(percent-encoded), -Database, -Confidence, -Quorum, -Truncated, -Cut-Cells; in a session "
    "-Session, -Rewritten and -Notes (percent-encoded). As events: `stage`, `candidate`, `vote` "
    "and `rows` on the way, then `answer` with the JSON, or `problem`.",
    QueryResponse,
)
_QUERY[200]["content"] = {media_type: {} for media_type in _SERVED if "json" not in media_type}
_TRANSLATE = describe_response("The SQL, or why there is none.")


def build_question_router(service: QueryService) -> APIRouter:
    """The routes."""
    router = APIRouter()

    @router.post("/query", summary="Answer a question", responses=_QUERY | TOO_LARGE | NO_FORMAT)
    async def query(body: QueryRequest, request: Request, principal: Caller) -> Response:
        media_type = choose_response_type(request, _SERVED)
        format_ = find_format(media_type)
        if format_ is not None:
            answer = await run_while_connected(request.receive, service.query(body, principal))
            if isinstance(answer, Answered):
                return await export_rows(answer, format_, spreadsheet_safe=body.spreadsheet_safe)
            members = build_response(answer, trace=False).model_dump(include={"outcome", "code"})
            return render_problem(422, "No rows", answer.reason, members=members)

        async def work(observer: Observer | None = None) -> Parts:
            answer = await service.query(body, principal, observer)
            return await run_in_results_thread(_render, answer, trace=body.trace)

        if media_type == EVENT_STREAM:
            return stream_answer(work)
        content = await run_while_connected(request.receive, work())
        return PartsResponse(content, media_type, {})

    @router.post(
        "/translate", summary="Translate a question into SQL", responses=_TRANSLATE | TOO_LARGE
    )
    async def translate(
        body: QueryRequest, request: Request, principal: Caller
    ) -> TranslateResponse:
        if body.max_rows is None:
            # The rows are not sent, so they are not read.
            body = body.model_copy(update={"max_rows": 1})
        answer = await run_while_connected(request.receive, service.query(body, principal))
        return _drop_rows(build_response(_leave_out_rows(answer), trace=body.trace))

    return router


def _render(answer: Answer, *, trace: bool) -> Parts:
    response = build_response(_leave_out_rows(answer), trace=trace)
    if isinstance(answer, Answered):
        return render_with_rows(response, render_rows(answer.result))
    return (render_json(response.model_dump()),)


def _leave_out_rows(answer: Answer) -> Answer:
    if not isinstance(answer, Answered):
        return answer
    return replace(answer, result=replace(answer.result, rows=()))


def _drop_rows(answer: QueryResponse) -> TranslateResponse:
    """The same answer without rows, its own and those of interpretations."""
    if isinstance(answer, ClarifyResponse):
        no_rows = {"columns": [], "rows": [], "truncated": False, "cut": []}
        interpretations = [each.model_copy(update=no_rows) for each in answer.interpretations]
        return answer.model_copy(update={"interpretations": interpretations})
    if not isinstance(answer, AnsweredResponse):
        return answer
    fields = answer.model_dump(include=set(TranslatedResponse.model_fields) - {"outcome"})
    return TranslatedResponse.model_validate(fields)
