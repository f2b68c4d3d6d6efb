"""Calls of one method that begin at the same moment travel together.

The candidates of a question are guarded, explained, scored and repaired at the same time. A call
between replicas takes milliseconds of processor time on both sides whatever it carries, and what
the calls share, such as the schema, is pickled once. Knows nothing of ray.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class BatchedCall:
    """Arguments of one call, and the seconds that its request has left; None: no limit."""

    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)
    left_s: float | None = None


# Result or exception of each call.
Send = Callable[[str, tuple[BatchedCall, ...]], Awaitable[Sequence[Any]]]
_Waiting = list[tuple[BatchedCall, asyncio.Future[Any]]]


class CallBatcher:
    """Collects the calls of one turn of the event loop and passes them to ``send`` at once.

    Those that come together also end together, so it is for calls of which a caller awaits all. For
    use in one event loop.
    """

    def __init__(self, send: Send) -> None:
        """``send`` takes a method's name and its calls."""
        self._send = send
        self._waiting: dict[str, _Waiting] = {}
        self._sending: set[asyncio.Task[None]] = set()

    async def call(self, method: str, call: BatchedCall) -> Any:
        """The result of the call. Raises its exception, or that of ``send``.

        What is sent is cancelled when all that wait for it are.
        """
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Any] = loop.create_future()
        waiting = self._waiting.setdefault(method, [])
        waiting.append((call, result))
        if len(waiting) == 1:
            loop.call_soon(self._start, method)
        return await result

    def _start(self, method: str) -> None:
        waiting = [
            (call, result) for call, result in self._waiting.pop(method) if not result.done()
        ]
        if not waiting:
            return
        task = asyncio.create_task(self._run(method, waiting))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

        def cancel_unless_awaited(_: asyncio.Future[Any]) -> None:
            if all(result.done() for _, result in waiting):
                task.cancel()

        for _, result in waiting:
            result.add_done_callback(cancel_unless_awaited)

    async def _run(self, method: str, waiting: _Waiting) -> None:
        try:
            found = await self._send(method, tuple(call for call, _ in waiting))
        except Exception as error:
            found = [error] * len(waiting)
        for (_, result), outcome in zip(waiting, found, strict=True):
            if result.done():
                continue
            if isinstance(outcome, BaseException):
                result.set_exception(outcome)
            else:
                result.set_result(outcome)
