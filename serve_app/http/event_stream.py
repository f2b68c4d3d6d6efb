"""An answer as server-sent events: what happens on the way, then the answer.

The events are those of ``quorumsql.contract.events``, numbered. ``event: answer`` contains the same
body as without a stream, ``event: problem`` a problem document instead of it. A comment line every
two seconds shows that the service is alive. An invalid request is answered with its HTTP status, as
without a stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from nl2sql.protocols import Observer
from nl2sql.rendering import build_event
from nl2sql.types import QuestionEvent
from serve_app.http.disconnection import ClientGone, run_while_connected
from serve_app.http.problems import render_error
from serve_app.http.responses import render_json
from serve_app.service.progress_queue import ProgressQueue

EVENT_STREAM = "text/event-stream"
# Progress comes at least as often.
_SILENCE_S = 2.0
_BEAT = b": still at work\n\n"


class EventStream(Response):
    """Sends the progress that ``work`` reports to its observer, then the body that it returns."""

    media_type = EVENT_STREAM

    def __init__(self, work: Callable[[Observer], Coroutine[Any, Any, bytes]]) -> None:
        # A proxy that buffers the response would hold back the events until its end.
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._work = work
        self._sent = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        queue = ProgressQueue()
        task = asyncio.create_task(run_while_connected(receive, self._work(queue)))
        has_started = False
        try:
            async for event in queue.follow(task, silence_s=_SILENCE_S):
                if not has_started:
                    await self._start(send)
                    has_started = True
                await _send(send, self._render(event))
            answer = self._render_event("answer", task.result())
        except ClientGone:
            return
        except Exception as error:
            if not has_started:
                raise
            answer = self._render_event("problem", bytes(render_error(error).body))
        finally:
            task.cancel()
            await asyncio.wait({task})
        if not has_started:
            await self._start(send)
        await _send(send, answer, more=False)

    def _render(self, event: QuestionEvent | None) -> bytes:
        if event is None:
            return _BEAT
        told = build_event(event)
        return self._render_event(told.event, render_json(told.model_dump(exclude={"event"})))

    def _render_event(self, name: str, data: bytes) -> bytes:
        self._sent += 1
        return render_event(name, data, self._sent)

    async def _start(self, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": list(self.raw_headers)}
        )


def render_event(name: str, data: bytes, number: int) -> bytes:
    """One event; ``data`` is JSON in one line.

    >>> render_event("stage", b'{"stage":"plan"}', 1)
    b'id: 1\\nevent: stage\\ndata: {"stage":"plan"}\\n\\n'
    """
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, name.encode(), data)


async def _send(send: Send, body: bytes, *, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})
