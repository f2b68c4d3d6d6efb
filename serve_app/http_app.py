"""The HTTP interface as a plain ASGI application over a ``QueryService``."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Header, Response
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serve_app.api import QueryRequest, render_answer
from serve_app.problems import install_problem_handlers, render_problem
from serve_app.service import QueryService


def build_http_app(service: QueryService, *, body_bytes: int) -> ASGIApp:
    """Routes ``/query``, ``/healthz`` and ``/readyz``; bodies over ``body_bytes`` are refused."""
    app = FastAPI(
        title="QuorumSQL",
        description="Questions in plain language, answered with guarded, read-only SQL.",
    )
    install_problem_handlers(app)

    @app.post("/query", summary="Answer a question")
    async def query(
        request: QueryRequest, authorization: Annotated[str, Header()] = ""
    ) -> dict[str, Any]:
        principal = service.identify(authorization)
        return render_answer(await service.query(request, principal), trace=request.trace)

    @app.get("/healthz", summary="Is the process alive?")
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @app.get("/readyz", summary="Can questions be answered right now?")
    async def readyz(response: Response) -> dict[str, Any]:
        parts = await service.readiness()
        ready = not any(parts.values())
        response.status_code = 200 if ready else 503
        return {"ready": ready, "parts": {name: wrong or "ok" for name, wrong in parts.items()}}

    return BoundedBodies(app, body_bytes)


class BoundedBodies:
    """Answers 413 as soon as a body grows over the limit, whatever its headers promise."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        messages: list[Message] = []
        size, more = 0, True
        while more:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
            if size > self._limit:
                await self._refuse(scope, receive, send)
                return

        async def replay() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replay, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        response: JSONResponse = render_problem(
            413,
            "Body too large",
            f"The body is larger than {self._limit} bytes.",
            errors=[{"field": "question", "message": f"at most {self._limit} bytes in all"}],
        )
        await response(scope, receive, send)
