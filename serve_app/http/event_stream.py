"""Server-sent events: what happens on the way to an answer, then the answer.

``render_events`` makes the events of ``quorumsql.contract.events``. ``event: answer`` contains the
same body as without a stream, ``event: problem`` a problem document instead of it. A comment line
every two seconds shows that the service is alive. An invalid request is answered with its HTTP
status, as without a stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from nl2sql.answers import Answered, QuestionEvent
from nl2sql.concurrency import running
from nl2sql.protocols import Observer
from nl2sql.sql.threads import run_in_results_thread
from serve_app.http.disconnection import ClientGone, run_while_connected
from serve_app.http.problems import render_error
from serve_app.http.responses import Parts, render_json, render_rows, render_with_rows, split
from serve_app.service.progress_queue import ProgressQueue
from serve_app.service.rendering import build_event

EVENT_STREAM = "text/event-stream"
# Something is sent at least every two seconds, also by a busy machine.
SILENCE_S = 1.5
_BEAT = b": still at work\n\n"

_T = TypeVar("_T")
Work = Callable[[Observer], Coroutine[Any, Any, _T]]
"""Answers a question, telling an observer how far it is."""
Render = Callable[[ProgressQueue, asyncio.Task[_T]], AsyncIterator[Parts]]
"""What is sent until the task of the work has ended. Its error comes before anything is sent."""


class EventStream(Response):
    """Streams the events of a question while ``work`` answers it."""

    media_type = EVENT_STREAM

    def __init__(self, work: Work[_T], render: Render[_T]) -> None:
        # A proxy that buffers the response would hold back the events until its end.
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._work = work
        self._render = render

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        queue = ProgressQueue()
        start = {"type": "http.response.start", "status": 200, "headers": list(self.raw_headers)}
        with suppress(ClientGone):
            async with running(run_while_connected(receive, self._work(queue))) as task:
                events = self._render(queue, task)
                # Nothing was sent yet: an error that comes first has a status of its own.
                first = await anext(events)
                await send(start)
                await _send(send, first)
                async for event in events:
                    await _send(send, event)
                await send({"type": "http.response.body", "body": b"", "more_body": False})


async def render_events(queue: ProgressQueue, task: asyncio.Task[Parts]) -> AsyncIterator[Parts]:
    """The events of the contract; the task returns the body of the answer.

    Raises the task's error if that comes before any event.
    """
    is_told = False
    async for event in queue.follow(task, silence_s=SILENCE_S):
        is_told = True
        yield (_BEAT,) if event is None else await _render(event)
    try:
        kind, content = "answer", task.result()
    except ClientGone:
        raise
    except Exception as error:
        if not is_told:
            raise
        kind, content = "problem", (bytes(render_error(error).body),)
    yield render_event(kind, content)


async def _render(event: QuestionEvent) -> Parts:
    if isinstance(event, Answered):
        return await run_in_results_thread(_render_rows, event)
    told = build_event(event)
    return render_event(told.event, (render_json(told.model_dump(exclude={"event"})),))


def _render_rows(event: Answered) -> Parts:
    without = replace(event, result=replace(event.result, rows=()))
    told = build_event(without)
    rows = render_rows(event.result)
    return render_event(told.event, render_with_rows(told, rows, exclude={"event"}))


def render_event(kind: str, content: Parts) -> Parts:
    """One event of a stream; ``content`` is JSON in one line.

    >>> b"".join(render_event("stage", (b'{"stage":', b'"plan"}')))
    b'event: stage\\ndata: {"stage":"plan"}\\n\\n'
    """
    return f"event: {kind}\ndata: ".encode(), *content, b"\n\n"


async def _send(send: Send, parts: Parts) -> None:
    for piece in split(parts):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
