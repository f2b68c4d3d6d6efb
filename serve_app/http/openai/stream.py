"""A chat completion as a stream: the role at once, progress, then the content.

The first chunk is sent before the question is looked at, so that a client can stop it from the
start. What goes wrong afterwards is an error event in the stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from nl2sql.answers import Answer, QuestionEvent
from nl2sql.protocols import Observer
from nl2sql.sql.threads import run_in_results_thread
from nl2sql.types import Progress
from serve_app.http.disconnection import ClientGone, run_while_connected
from serve_app.http.event_stream import SILENCE_S
from serve_app.http.openai.content import render_answer
from serve_app.http.openai.responses import Completion, build_error, count_usage
from serve_app.http.problems import describe_error
from serve_app.http.responses import render_json
from serve_app.service.progress_queue import ProgressQueue
from serve_app.service.stage_words import describe_stage

_PIECE_CHARS = 400


class ChatStream(Response):
    """Streams the completion of the answer that ``work`` returns."""

    media_type = "text/event-stream"

    def __init__(
        self,
        completion: Completion,
        work: Callable[[Observer], Coroutine[Any, Any, Answer]],
        *,
        includes_usage: bool,
    ) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._completion = completion
        self._work = work
        self._includes_usage = includes_usage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": list(self.raw_headers)}
        )
        completion = self._completion
        await _send(send, completion.build_chunk({"role": "assistant", "content": ""}))
        queue = ProgressQueue()
        task = asyncio.create_task(run_while_connected(receive, self._work(queue)))
        said = ""
        try:
            async for event in queue.follow(task, silence_s=SILENCE_S):
                text = _describe(event, said)
                if text != said or event is None:
                    said = text
                    await _send(send, completion.build_progress(text))
            await self._finish(task.result(), send)
        except ClientGone:
            return
        except Exception as error:
            await _send(send, build_error(*describe_error(error)))
        finally:
            task.cancel()
            await asyncio.wait({task})
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n", "more_body": False})

    async def _finish(self, answer: Answer, send: Send) -> None:
        completion, content = self._completion, await run_in_results_thread(render_answer, answer)
        done = {"type": "status", "data": {"description": "", "done": True, "hidden": True}}
        await _send(send, completion.build_chunk({"content": ""}, event=done))
        for start in range(0, len(content), _PIECE_CHARS):
            piece = content[start : start + _PIECE_CHARS]
            await _send(send, completion.build_chunk({"content": piece}))
        await _send(send, completion.build_chunk({}, finish_reason="stop"))
        if self._includes_usage:
            await _send(send, completion.build_usage(count_usage(answer.trace)))


def _describe(event: QuestionEvent | None, said: str) -> str:
    return describe_stage(event) if isinstance(event, Progress) else said or "working"


async def _send(send: Send, chunk: dict[str, Any]) -> None:
    await send(
        {
            "type": "http.response.body",
            "body": b"data: %s\n\n" % render_json(chunk),
            "more_body": True,
        }
    )
