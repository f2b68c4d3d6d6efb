"""``POST /query`` and ``POST /translate``: questions. ``POST /run``: a query of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fastapi import APIRouter, HTTPException, Request, Response

from nl2sql.answers import Answer, Answered, Refused
from nl2sql.protocols import Observer
from nl2sql.sql.threads import run_in_results_thread
from nl2sql.types import GuardedQuery
from quorumsql.contract import QueryRequest, QueryResponse
from quorumsql.contract.answers import (
    AnsweredResponse,
    ClarifyResponse,
    RunResponse,
    TranslatedResponse,
    TranslateResponse,
)
from quorumsql.contract.requests import RunRequest
from serve_app.http.disconnection import run_while_connected
from serve_app.http.event_stream import EVENT_STREAM, EventStream, render_events
from serve_app.http.formats import (
    JSON,
    MEDIA_TYPES,
    Format,
    choose_media_type,
    describe_answer,
    find_format,
)
from serve_app.http.problems import render_problem
from serve_app.http.responses import (
    Parts,
    PartsResponse,
    render_json,
    render_rows,
    render_with_rows,
)
from serve_app.http.route_parts import TOO_LARGE, Caller, Responses, describe_response
from serve_app.service.query_service import QueryService
from serve_app.service.rendering import build_columns, build_response, list_predicates
from serve_app.service.tools import ToolService, find_refusal

_NO_FORMAT: Responses = {406: {"description": "No accepted format is served."}}
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
_RUN = describe_response(
    "The rows as JSON, or in the accepted format with the headers of `POST /query`.", RunResponse
)
_RUN[200]["content"] = {media_type: {} for media_type in MEDIA_TYPES if media_type != JSON}
_RUN[422] = {
    "description": "The request is invalid, or there are no rows: `code` is the guard's reason or "
    "the SQLSTATE of the database's error."
}


def build_question_router(service: QueryService) -> APIRouter:
    """Asking a question."""
    router = APIRouter()

    @router.post("/query", summary="Answer a question", responses=_QUERY | TOO_LARGE | _NO_FORMAT)
    async def query(body: QueryRequest, request: Request, principal: Caller) -> Response:
        media_type = _choose_type(request, _SERVED)
        format_ = find_format(media_type)
        if format_ is not None:
            answer = await run_while_connected(request.receive, service.query(body, principal))
            if isinstance(answer, Answered):
                return await _export(answer, format_, spreadsheet_safe=body.spreadsheet_safe)
            members = build_response(answer, trace=False).model_dump(include={"outcome", "code"})
            return render_problem(422, "No rows", answer.reason, members=members)

        async def work(observer: Observer | None = None) -> Parts:
            answer = await service.query(body, principal, observer)
            return await run_in_results_thread(_render, answer, trace=body.trace)

        if media_type == EVENT_STREAM:
            return EventStream(work, render_events)
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


def build_run_router(tools: ToolService) -> APIRouter:
    """Running a query."""
    router = APIRouter()

    @router.post("/run", summary="Run a query", responses=_RUN | TOO_LARGE | _NO_FORMAT)
    async def run_query(body: RunRequest, request: Request, principal: Caller) -> Response:
        format_ = find_format(_choose_type(request, MEDIA_TYPES))
        running = tools.run(body.database, body.sql, principal, body.max_rows)
        answer = await run_while_connected(request.receive, running)
        if not isinstance(answer, Answered):
            code, reason = find_refusal(answer)
            title = "Query refused" if isinstance(answer, Refused) else "Query failed"
            return render_problem(422, title, reason, members={"code": code})
        if format_ is None:
            return await run_in_results_thread(_render_run, answer)
        return await _export(answer, format_, spreadsheet_safe=body.spreadsheet_safe)

    return router


def _choose_type(request: Request, served: Sequence[str]) -> str:
    """The media type that the client prefers. Raises HTTPException 406 if it accepts none."""
    media_type = choose_media_type(", ".join(request.headers.getlist("accept")), served)
    if media_type is None:
        raise HTTPException(406, f"Responses are served as {', '.join(served)}.")
    return media_type


async def _export(answer: Answered, format_: Format, *, spreadsheet_safe: bool) -> Response:
    """The answer's rows as a file, and what goes with them in headers."""
    content = await run_in_results_thread(format_.render, answer.result, spreadsheet_safe)
    # So that a browser saves them.
    disposition = f'attachment; filename="rows.{format_.suffix}"'
    headers = describe_answer(answer) | {"Content-Disposition": disposition}
    return PartsResponse((content,), format_.media_type, headers)


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


def _render_run(answer: Answered) -> Response:
    ranking, result = answer.trace.ranking, answer.result
    verdict = ranking.assessments[0].verdict if ranking else None
    query = verdict if isinstance(verdict, GuardedQuery) else None
    response = RunResponse(
        database=answer.trace.question.database,
        sql=answer.sql,
        columns=build_columns(result),
        rows=[],
        truncated=result.truncated,
        cut=[list(cell) for cell in result.cut],
        ms=round(result.ms, 2),
        predicates=list_predicates(query) if query else [],
        tables=list(query.named) if query else [],
        description=answer.description,
    )
    return PartsResponse(render_with_rows(response, render_rows(result)), JSON, {})
