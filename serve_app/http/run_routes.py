"""``POST /run``: a query that the principal wrote, changed or was given."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from nl2sql.answers import Answered, Refused
from nl2sql.sql.threads import run_in_results_thread
from nl2sql.types import GuardedQuery
from quorumsql.contract.answers import RunResponse
from quorumsql.contract.requests import RunRequest
from serve_app.http.disconnection import run_while_connected
from serve_app.http.formats import JSON, MEDIA_TYPES, find_format
from serve_app.http.problems import render_problem
from serve_app.http.responses import PartsResponse, render_rows, render_with_rows
from serve_app.http.route_parts import (
    NO_FORMAT,
    TOO_LARGE,
    Caller,
    choose_response_type,
    describe_response,
    export_rows,
)
from serve_app.service.rendering import build_columns, list_predicates
from serve_app.service.tools import ToolService, find_refusal

_RUN = describe_response(
    "The rows as JSON, or in the accepted format with the headers of `POST /query`.", RunResponse
)
_RUN[200]["content"] = {media_type: {} for media_type in MEDIA_TYPES if media_type != JSON}
_RUN[422] = {
    "description": "The request is invalid, or there are no rows: `code` is the guard's reason or "
    "the SQLSTATE of the database's error."
}


def build_run_router(tools: ToolService) -> APIRouter:
    """The routes."""
    router = APIRouter()

    @router.post("/run", summary="Run a query", responses=_RUN | TOO_LARGE | NO_FORMAT)
    async def run_query(body: RunRequest, request: Request, principal: Caller) -> Response:
        format_ = find_format(choose_response_type(request, MEDIA_TYPES))
        running = tools.run(body.database, body.sql, principal, body.max_rows)
        answer = await run_while_connected(request.receive, running)
        if not isinstance(answer, Answered):
            code, reason = find_refusal(answer)
            title = "Query refused" if isinstance(answer, Refused) else "Query failed"
            return render_problem(422, title, reason, members={"code": code})
        if format_ is None:
            return await run_in_results_thread(_render, answer)
        return await export_rows(answer, format_, spreadsheet_safe=body.spreadsheet_safe)

    return router


def _render(answer: Answered) -> Response:
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
    parts = render_with_rows(response, render_rows(result))
    return PartsResponse(parts, JSON, {})
