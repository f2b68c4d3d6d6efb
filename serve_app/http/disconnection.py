"""Ends the work for a client that is no longer there.

An ASGI server tells an application that its client has gone by a message, and does nothing else
about it. What it does not cover: a client that is gone but has not closed its connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

_T = TypeVar("_T")


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


async def run_while_connected(receive: Receive, work: Coroutine[Any, Any, _T]) -> _T:
    """What ``work`` returns. Cancels it, and raises ClientGone, when the client leaves.

    The request's body must have been read. Returns or raises only when the work has ended.
    """
    task = asyncio.create_task(work)
    watch = asyncio.create_task(_wait_for_disconnect(receive))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientGone
    finally:
        watch.cancel()
        task.cancel()
        # Unlike awaiting them, this raises nothing of theirs.
        await asyncio.wait({watch, task})


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue
