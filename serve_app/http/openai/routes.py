"""``GET /v1/models``, ``GET /v1/models/{id}`` and ``POST /v1/chat/completions``.

The same pipeline, principal and guard as ``POST /query``. A refusal, a clarification and a failure
are answers in words, not errors.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response

from nl2sql.errors import UnknownDatabase
from nl2sql.protocols import Observer
from nl2sql.sql.threads import run_in_results_thread
from quorumsql.contract import QueryRequest
from retrieval.conversations import MOST_TURNS
from serve_app.http.disconnection import run_while_connected
from serve_app.http.event_stream import EventStream
from serve_app.http.openai.content import render_answer
from serve_app.http.openai.conversation import answer_task, find_session, read_question, read_turns
from serve_app.http.openai.requests import ChatRequest
from serve_app.http.openai.responses import DEFAULT_MODEL, Completion, build_model, count_usage
from serve_app.http.openai.stream import Reply, render_chunks
from serve_app.http.responses import AnyTextJSONResponse
from serve_app.http.route_parts import ERRORS, TOO_LARGE, Caller, Responses
from serve_app.service.query_service import QueryService
from serve_app.service.request_checks import MOST_QUESTION_CHARS
from serve_app.settings import Settings

_ERRORS: Responses = {
    **{status: text for status, text in ERRORS.items() if status != 422},
    400: {"description": "The request is invalid, in OpenAI's form, as all errors here."},
    404: {"description": "There is no such model."},
    # Without it FastAPI adds 422.
    "default": {"description": "Any other error."},
}
_CHAT: Responses = {**_ERRORS, **TOO_LARGE, 200: {"content": {"text/event-stream": {}}}}


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

    @router.post("/chat/completions", summary="Answer the last message of a chat", responses=_CHAT)
    async def complete(body: ChatRequest, request: Request, principal: Caller) -> Response:
        body.check_parameters()
        prompt = read_question(body.messages)
        if body.model != DEFAULT_MODEL:
            # Before a stream begins: an unknown model has a status of its own.
            settings.database_name(body.model, principal)
        completion = Completion(body.model)
        task = answer_task(prompt)
        turns = read_turns(body.messages, most=MOST_TURNS, longest=MOST_QUESTION_CHARS)
        query = QueryRequest(
            question=prompt,
            database=None if body.model == DEFAULT_MODEL else body.model,
            # That of ``POST /query`` has 31 bits, OpenAI's has 64.
            seed=None if body.seed is None else body.seed % 2**31,
            session=None if turns else find_session(request.headers),
        )

        async def work(observer: Observer | None = None) -> Reply:
            if task is not None:
                return task, count_usage(None)
            answer = await service.query(query, principal, observer, history=turns)
            content = await run_in_results_thread(render_answer, answer)
            return content, count_usage(answer.trace)

        if body.stream:
            if task is None:
                # What is refused has a status of its own, which a stream that has begun has not.
                service.check(query, principal)
            includes_usage = bool(body.stream_options and body.stream_options.include_usage)
            render = partial(render_chunks, completion=completion, includes_usage=includes_usage)
            return EventStream(work, render)
        return AnyTextJSONResponse(
            completion.build_whole(*await run_while_connected(request.receive, work()))
        )

    def _alias(names: tuple[str, ...]) -> tuple[str, ...]:
        has_default = settings.choose_default(names)
        return (DEFAULT_MODEL,) if has_default and DEFAULT_MODEL not in names else ()

    return router
