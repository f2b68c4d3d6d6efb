"""An answer as server-sent events: each stage as it runs, then the answer.

``event: stage`` contains the progress, ``event: answer`` the same body as without a stream,
``event: problem`` a problem document instead of it. A comment line every few seconds shows that the
service is alive. An invalid request is answered with its HTTP status, as without a stream.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from nl2sql.protocols import Observer
from nl2sql.types import Progress
from serve_app.http.disconnection import ClientGone, run_while_connected
from serve_app.http.problems import render_error
from serve_app.service.progress_queue import ProgressQueue

EVENT_STREAM = "text/event-stream"
_SILENCE_S = 5.0
_BEAT = b": still at work\n\n"


class EventStream(Response):
    """Sends the progress that ``work`` reports to its observer, then the body that it returns."""

    media_type = EVENT_STREAM

    def __init__(self, work: Callable[[Observer], Coroutine[Any, Any, bytes]]) -> None:
        # A proxy that buffers the response would hold back the events until its end.
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        queue = ProgressQueue()
        task = asyncio.create_task(run_while_connected(receive, self._work(queue)))
        has_started = False
        try:
            async for progress in queue.follow(task, silence_s=_SILENCE_S):
                if not has_started:
                    await self._start(send)
                    has_started = True
                await _send(send, _render_stage(progress))
            answer = render_event("answer", task.result())
        except ClientGone:
            return
        except Exception as error:
            if not has_started:
                raise
            answer = render_event("problem", bytes(render_error(error).body))
        finally:
            task.cancel()
            await asyncio.wait({task})
        if not has_started:
            await self._start(send)
        await _send(send, answer, more=False)

    async def _start(self, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": list(self.raw_headers)}
        )


def _render_stage(progress: Progress | None) -> bytes:
    if progress is None:
        return _BEAT
    return render_event("stage", json.dumps(asdict(progress)).encode())


def render_event(name: str, data: bytes) -> bytes:
    """One event; ``data`` is JSON in one line.

    >>> render_event("stage", b'{"stage":"plan"}')
    b'event: stage\\ndata: {"stage":"plan"}\\n\\n'
    """
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)


async def _send(send: Send, body: bytes, *, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})
