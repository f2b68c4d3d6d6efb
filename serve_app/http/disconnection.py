"""Cancels the work for a client that has disconnected.

An ASGI server only sends the application a message when the client disconnects. A client that is
gone without closing its connection is not detected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

from nl2sql.concurrency import running

_T = TypeVar("_T")


class ClientGone(Exception):
    """The client has disconnected."""


async def run_while_connected(receive: Receive, work: Coroutine[Any, Any, _T]) -> _T:
    """Returns the result of ``work``. Cancels it and raises ClientGone if the client disconnects.

    The request's body must have been read. Returns or raises only when the work has ended.
    """
    async with running(work) as task, running(_wait_for_disconnect(receive)) as watch:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientGone("The client left.")


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue
