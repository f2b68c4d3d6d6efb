"""``POST /run`` and ``POST /format``: a query that the principal wrote, changed or was given."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response

from nl2sql.answers import Answer, Answered, Refused
from nl2sql.errors import InvalidRequest
from nl2sql.rendering import build_columns
from nl2sql.settings import Settings
from nl2sql.sql.threads import run_in_results_thread
from nl2sql.trace_rendering import list_predicates
from nl2sql.types import GuardedQuery, Principal
from quorumsql.contract.runs import FormatRequest, FormatResponse, RunRequest, RunResponse
from serve_app.http.callers import Caller
from serve_app.http.disconnection import run_while_connected
from serve_app.http.formats import JSON, MEDIA_TYPES, describe_answer, export_answer, find_format
from serve_app.http.negotiation import choose_media_type
from serve_app.http.problems import render_problem
from serve_app.http.responses import PartsResponse, render_rows, render_with_rows
from serve_app.http.route_answers import describe_responses, render_model
from serve_app.service.formatting import format_sql
from serve_app.service.operations import Refusal
from serve_app.service.shares import ShareService
from serve_app.service.tools import ToolService, find_refusal

_RUN = describe_responses(
    "The rows as JSON, or in the accepted format with the headers of `POST /query`.",
    RunResponse,
    403,
    404,
    406,
    429,
)
_RUN[200]["content"] = {
    media_type: {} for media_type in MEDIA_TYPES if media_type != "application/json"
}
_RUN[422] = {
    "description": "The request is invalid, or there are no rows: `code` is the guard's reason or "
    "the SQLSTATE of the database's error."
}
_FORMAT = describe_responses("The query on several lines.", FormatResponse, 404)


def add_run_routes(
    app: FastAPI,
    settings: Settings,
    tools: ToolService,
    shares: ShareService,
) -> None:
    """Adds the routes."""

    async def run(body: RunRequest, principal: Principal) -> Answer | Refusal:
        database, sql = body.database, body.sql
        if body.share:
            if sql or database is not None:
                raise InvalidRequest("A share has its own database and query.", field="share")
            share = await shares.open(body.share, principal)
            if isinstance(share, Refusal):
                return share
            database, sql = share.database, share.sql
        return await tools.run(database, sql, principal, body.max_rows)

    @app.post("/run", summary="Run a query", responses=_RUN)
    async def run_query(body: RunRequest, request: Request, principal: Caller) -> Response:
        accept = ", ".join(request.headers.getlist("accept"))
        media_type = choose_media_type(accept, MEDIA_TYPES)
        if media_type is None:
            served = ", ".join(MEDIA_TYPES)
            return render_problem(406, "Not acceptable", f"Rows are served as {served}.")
        answer = await run_while_connected(request.receive, run(body, principal))
        if isinstance(answer, Refusal):
            return render_model(answer)
        if not isinstance(answer, Answered):
            refusal = find_refusal(answer)
            title = "Query refused" if isinstance(answer, Refused) else "Query failed"
            members = {"code": refusal.code}
            return render_problem(422, title, refusal.reason, members=members)
        format_ = find_format(media_type)
        if format_ is None:
            return await run_in_results_thread(_render, answer)
        content = await run_in_results_thread(
            export_answer, answer, format_, spreadsheet_safe=body.spreadsheet_safe
        )
        headers = describe_answer(answer) | {"Content-Disposition": format_.disposition}
        return PartsResponse((content,), format_.media_type, headers)

    @app.post("/format", summary="Format a query", responses=_FORMAT)
    async def format_query(body: FormatRequest, principal: Caller) -> Response:
        name = settings.database_name(body.database, principal)
        sql = await format_sql(body.sql, settings.databases[name].dialect)
        return render_model(FormatResponse(sql=sql))


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
        tables=list(query.tables) if query else [],
        description=answer.description,
    )
    parts = render_with_rows(response, render_rows(result))
    return PartsResponse(parts, JSON, {})
