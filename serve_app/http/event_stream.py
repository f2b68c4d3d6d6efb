"""An answer as server-sent events: what happens on the way, then the answer.

The events are those of ``quorumsql.contract.events``, numbered. ``event: answer`` contains the same
body as without a stream, ``event: problem`` a problem document instead of it. A comment line every
two seconds shows that the service is alive. An invalid request is answered with its HTTP status, as
without a stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from nl2sql.protocols import Observer
from nl2sql.rendering import EVENT_KINDS, build_event
from nl2sql.sql.threads import run_in_results_thread
from nl2sql.types import RowsFetched
from serve_app.http.disconnection import ClientGone, run_while_connected
from serve_app.http.problems import render_error
from serve_app.http.responses import Parts, RenderedRows, render_json, render_with_rows, split
from serve_app.service.progress_queue import ProgressQueue
from serve_app.service.running_queries import RecordedEvent, RunningQuery

EVENT_STREAM = "text/event-stream"
QUERY_ID = "QuorumSQL-Query-Id"
# Something is sent at least every two seconds, also by a busy machine.
SILENCE_S = 1.5
_BEAT = b": still at work\n\n"

# Answers a question, telling an observer how far it is: the body of the answer, whose rows are
# rendered as those of the events.
Work = Callable[[Observer, RenderedRows], Awaitable[Parts]]


async def record(running: RunningQuery, work: Work) -> Parts:
    """The body that ``work`` returns; what happens meanwhile is recorded, and so is an error."""
    queue, rows = ProgressQueue(), RenderedRows()
    task = asyncio.ensure_future(work(queue, rows))
    try:
        async for event in queue.follow(task, silence_s=SILENCE_S):
            if event is not None:
                # Only the bytes are kept: an event holds the rows of all candidates.
                if isinstance(event, RowsFetched):
                    content = await run_in_results_thread(_render_rows, event, rows)
                else:
                    content = (render_json(build_event(event).model_dump(exclude={"event"})),)
                running.append(EVENT_KINDS[type(event)], content)
        body = task.result()
    except asyncio.CancelledError:
        raise
    except Exception as error:
        running.append("problem", (bytes(render_error(error).body),))
        raise
    else:
        running.append("answer", body)
        return body
    finally:
        running.end()
        task.cancel()
        await asyncio.wait({task})


class EventStream(Response):
    """Streams the events of a question while ``work`` answers it."""

    media_type = EVENT_STREAM

    def __init__(self, running: RunningQuery, work: Work) -> None:
        # A proxy that buffers the response would hold back the events until its end.
        super().__init__(headers={"X-Accel-Buffering": "no", QUERY_ID: running.id})
        del self.headers["content-length"]
        self._running = running
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.create_task(run_while_connected(receive, record(self._running, self._work)))
        try:
            events = self._running.follow(silence_s=SILENCE_S)
            first = await anext(events, None)
            if first is None or first.kind == "problem":
                # Nothing was sent yet: the error has a status of its own.
                await asyncio.wait({task}, timeout=0 if first is None else None)
                if task.done():
                    task.result()
            await _send_all(self, first, events, send)
        except ClientGone:
            return
        finally:
            task.cancel()
            await asyncio.wait({task})
            # A task that is cancelled before it starts has recorded no end.
            self._running.end()


class FollowedStream(Response):
    """Streams the events of a question that somebody else's request answers."""

    media_type = EVENT_STREAM

    def __init__(self, name: str, events: AsyncIterator[RecordedEvent | None]) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no", QUERY_ID: name})
        del self.headers["content-length"]
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await run_while_connected(receive, _send_all(self, None, self._events, send))
        except ClientGone:
            return


async def _send_all(
    response: Response,
    first: RecordedEvent | None,
    events: AsyncIterator[RecordedEvent | None],
    send: Send,
) -> None:
    await send(
        {"type": "http.response.start", "status": 200, "headers": list(response.raw_headers)}
    )
    if first is not None:
        await _send(send, render_event(first))
    async for event in events:
        await _send(send, (_BEAT,) if event is None else render_event(event))
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _render_rows(event: RowsFetched, rows: RenderedRows) -> Parts:
    without = RowsFetched(event.sql, replace(event.result, rows=()))
    return render_with_rows(build_event(without), rows.render(event.result), exclude={"event"})


def render_event(event: RecordedEvent) -> Parts:
    """One event of a stream.

    >>> b"".join(render_event(RecordedEvent(1, "stage", (b'{"stage":', b'"plan"}'))))
    b'id: 1\\nevent: stage\\ndata: {"stage":"plan"}\\n\\n'
    """
    head = b"id: %d\nevent: %s\ndata: " % (event.number, event.kind.encode())
    return head, *event.content, b"\n\n"


async def _send(send: Send, parts: Parts) -> None:
    for piece in split(parts):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
