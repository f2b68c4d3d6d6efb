"""A chat completion as a stream: the role at once, progress, then the content.

The first chunk is sent before the question is looked at, so that a client can stop it from the
start. What goes wrong afterwards is an error event in the stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from nl2sql.types import Progress
from serve_app.http.disconnection import ClientGone
from serve_app.http.event_stream import SILENCE_S
from serve_app.http.openai.responses import Completion, build_error
from serve_app.http.problems import describe_error
from serve_app.http.responses import Parts, render_json
from serve_app.service.progress_queue import ProgressQueue
from serve_app.service.stage_words import describe_stage

_PIECE_CHARS = 400

Reply = tuple[str, dict[str, int]]
"""The content of a completion, and the tokens used."""


async def render_chunks(
    queue: ProgressQueue, task: asyncio.Task[Reply], *, completion: Completion, includes_usage: bool
) -> AsyncIterator[Parts]:
    """The chunks of what the task returns."""
    yield _write(completion.build_chunk({"role": "assistant", "content": ""}))
    said = ""
    try:
        async for event in queue.follow(task, silence_s=SILENCE_S):
            text = describe_stage(event) if isinstance(event, Progress) else said or "working"
            if text != said or event is None:
                said = text
                yield _write(completion.build_progress(text))
        content, usage = task.result()
    except ClientGone:
        raise
    except Exception as error:
        yield _write(build_error(*describe_error(error)))
    else:
        for chunk in _finish(completion, content):
            yield _write(chunk)
        if includes_usage:
            yield _write(completion.build_usage(usage))
    yield (b"data: [DONE]\n\n",)


def _finish(completion: Completion, content: str) -> Iterator[dict[str, Any]]:
    done = {"type": "status", "data": {"description": "", "done": True, "hidden": True}}
    yield completion.build_chunk({"content": ""}, event=done)
    for start in range(0, len(content), _PIECE_CHARS):
        yield completion.build_chunk({"content": content[start : start + _PIECE_CHARS]})
    yield completion.build_chunk({}, finish_reason="stop")


def _write(chunk: dict[str, Any]) -> Parts:
    return (b"data: ", render_json(chunk), b"\n\n")
