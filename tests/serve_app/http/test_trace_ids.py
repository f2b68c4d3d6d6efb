"""The trace id of a request, in the header of its response."""

from __future__ import annotations

import re

import httpx
from opentelemetry.trace import NonRecordingSpan, SpanContext, use_span
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from serve_app.http.trace_ids import HEADER, TraceIds
from serve_app.service.question_log import TRACE_ID
from tests.serve_app.served import connect

SENT = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = {"traceparent": f"00-{SENT}-b7ad6b7169203331-01"}


async def tell(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(TRACE_ID.get())(scope, receive, send)


async def ask(current: str, headers: dict[str, str]) -> httpx.Response:
    context = SpanContext(int(current or "0", 16), 1, is_remote=False)
    with use_span(NonRecordingSpan(context)):
        async with connect(TraceIds(tell)) as client:
            return await client.get("/", headers=headers)


async def test_the_id_is_that_of_the_trace_or_of_the_client_or_new() -> None:
    for current, headers, expected in (
        ("c" * 32, TRACEPARENT, "c" * 32),
        ("", TRACEPARENT, SENT),
        ("", {"traceparent": "nonsense"}, "[0-9a-f]{32}"),
        ("", {}, "[0-9a-f]{32}"),
    ):
        response = await ask(current, headers)
        assert re.fullmatch(expected, response.text)
        assert response.headers[HEADER] == response.text
