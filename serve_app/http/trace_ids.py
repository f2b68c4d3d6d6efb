"""Gives every request a trace id, and every response the header ``QuorumSQL-Trace-Id``.

The id is that of the current trace, else that of the client's ``traceparent`` header, else new. The
log contains the same id.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

from serve_app.http.headers import change_headers, find_header
from serve_app.service.question_log import (
    TRACE_ID,
    find_trace_id,
    make_trace_id,
    read_traceparent,
)

HEADER = "QuorumSQL-Trace-Id"


@dataclass(frozen=True, slots=True)
class TraceIds:
    """The middleware."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sent = ",".join(find_header(scope, b"traceparent"))
        trace_id = find_trace_id() or read_traceparent(sent) or make_trace_id()
        token = TRACE_ID.set(trace_id)

        def name(headers: MutableHeaders, _: int) -> None:
            headers[HEADER] = trace_id

        try:
            await self.app(scope, receive, change_headers(send, name))
        finally:
            TRACE_ID.reset(token)
