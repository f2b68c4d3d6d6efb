"""``GET /v1/models``, ``GET /v1/models/{id}`` and ``POST /v1/chat/completions``.

The same pipeline, principal and guard as ``POST /query``. A refusal, a clarification and a failure
are answers in words, not errors.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from nl2sql.answers import Answer
from nl2sql.errors import UnknownDatabase
from nl2sql.protocols import Observer
from nl2sql.sql.threads import run_in_results_thread
from quorumsql.contract import QueryRequest
from retrieval.conversations import MOST_TURNS
from serve_app.http.disconnection import ClientGone, run_while_connected
from serve_app.http.openai.content import render_answer
from serve_app.http.openai.conversation import (
    answer_task,
    find_session,
    read_question,
    read_turns,
)
from serve_app.http.openai.requests import ChatRequest
from serve_app.http.openai.responses import DEFAULT_MODEL, Completion, build_model, count_usage
from serve_app.http.openai.stream import ChatStream
from serve_app.http.problems import CLIENT_GONE
from serve_app.http.responses import AnyTextJSONResponse
from serve_app.http.route_parts import Caller, Responses, describe_errors
from serve_app.service.query_service import QueryService
from serve_app.service.request_checks import MOST_QUESTION_CHARS
from serve_app.settings import Settings

_ERRORS: Responses = {
    **describe_errors(401, 503),
    400: {"description": "The request is invalid, in OpenAI's form, as all errors here."},
    404: {"description": "There is no such model."},
}
_CHAT: Responses = {
    **_ERRORS,
    **describe_errors(413, 429, 504),
    200: {"content": {"text/event-stream": {}}},
}


def build_router(settings: Settings, service: QueryService) -> APIRouter:
    """The routes under ``/v1``."""
    router = APIRouter(prefix="/v1", tags=["OpenAI-compatible"])

    @router.get("/models", summary="The databases that may be asked, as models", responses=_ERRORS)
    async def models(principal: Caller) -> dict[str, Any]:
        names = await service.list_databases(principal)
        return {"object": "list", "data": [build_model(name) for name in (*names, *_alias(names))]}

    @router.get("/models/{name:path}", summary="One of them", responses=_ERRORS)
    async def model(name: str, principal: Caller) -> dict[str, Any]:
        names = await service.list_databases(principal)
        if name not in (*names, *_alias(names)):
            raise UnknownDatabase(name, names)
        return build_model(name)

    @router.post(
        "/chat/completions",
        summary="Answer the last message of a chat",
        responses=_CHAT,
    )
    async def complete(body: ChatRequest, request: Request, principal: Caller) -> Response:
        body.check_parameters()
        prompt = read_question(body.messages)
        if body.model != DEFAULT_MODEL:
            # Before a stream begins: an unknown model has a status of its own.
            settings.database_name(body.model, principal)
        completion = Completion(body.model)
        if (told := answer_task(prompt)) is not None:
            return _complete_task(completion, told, body)
        turns = read_turns(
            body.messages,
            most=MOST_TURNS,
            longest=MOST_QUESTION_CHARS,
        )
        query = QueryRequest(
            question=prompt,
            database=None if body.model == DEFAULT_MODEL else body.model,
            seed=body.seed,
            session=None if turns else find_session(request.headers),
        )

        async def work(observer: Observer | None = None) -> Answer:
            return await service.query(query, principal, observer, history=turns)

        if body.stream:
            # What is refused has a status of its own, which a stream that has begun cannot have.
            service.check(query, principal)
            return ChatStream(completion, work, includes_usage=body.includes_usage)
        try:
            answer = await run_while_connected(request.receive, work())
        except ClientGone:
            return Response(status_code=CLIENT_GONE)
        usage = count_usage(answer.trace)
        content = await run_in_results_thread(render_answer, answer)
        return AnyTextJSONResponse(completion.build_whole(content, usage))

    def _alias(names: tuple[str, ...]) -> tuple[str, ...]:
        default = settings.default_database
        has_default = default in names if default else len(names) == 1
        return (DEFAULT_MODEL,) if has_default and DEFAULT_MODEL not in names else ()

    return router


def _complete_task(completion: Completion, content: str, body: ChatRequest) -> Response:
    usage = count_usage(None)
    if not body.stream:
        return AnyTextJSONResponse(completion.build_whole(content, usage))
    chunks = [
        completion.build_chunk({"role": "assistant", "content": content}),
        completion.build_chunk({}, finish_reason="stop"),
        *([completion.build_usage(usage)] if body.includes_usage else []),
    ]
    lines = [b"data: %s\n\n" % AnyTextJSONResponse(chunk).body for chunk in chunks]
    return Response(b"".join((*lines, b"data: [DONE]\n\n")), media_type="text/event-stream")
