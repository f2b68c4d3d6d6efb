"""Errors under ``/v1`` in OpenAI's form, wherever they arise.

The whole service speaks problem documents; this turns those of ``/v1`` at the outermost edge, so
that a missing token or a body that is too large has the form that OpenAI's clients read.
"""

from __future__ import annotations

import json

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

from serve_app.http.openai.responses import build_error
from serve_app.http.responses import render_json

OPENAI_PREFIX = "/v1/"
_PROBLEM = "application/problem+json"
# OpenAI answers 400 to what cannot be processed.
_UNPROCESSABLE, _BAD_REQUEST = 422, 400


def translate_problems(send: Send) -> Send:
    """Sends problem documents in OpenAI's form, everything else unchanged."""
    start: Message | None = None
    body = bytearray()

    async def send_translated(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message.get("headers", ())))
            if headers.get("content-type", "").startswith(_PROBLEM):
                start = message
                return
        if start is None:
            await send(message)
            return
        body.extend(message.get("body", b""))
        if not message.get("more_body", False):
            await _send_error(start, bytes(body), send)

    return send_translated


async def _send_error(start: Message, body: bytes, send: Send) -> None:
    status = start["status"]
    content = render_json(build_error(status, json.loads(body)))
    headers = MutableHeaders(raw=list(start.get("headers", ())))
    headers["content-type"] = "application/json"
    headers["content-length"] = str(len(content))
    if (seconds := headers.get("retry-after", "")).replace(".", "", 1).isdecimal():
        headers["retry-after-ms"] = str(round(float(seconds) * 1000))
    if status == _UNPROCESSABLE:
        status = _BAD_REQUEST
    await send({**start, "status": status, "headers": headers.raw})
    await send({"type": "http.response.body", "body": content})
