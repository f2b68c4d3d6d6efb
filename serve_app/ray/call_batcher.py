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

from nl2sql.concurrency import SingleFlight


@dataclass(frozen=True, slots=True)
class BatchedCall:
    """Arguments of one call, and the seconds that its request has left; None: no limit."""

    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)
    left_s: float | None = None


# Result or exception of each call.
Send = Callable[[str, tuple[BatchedCall, ...]], Awaitable[Sequence[Any]]]


class CallBatcher:
    """Collects the calls of one turn of the event loop and passes them to ``send`` at once.

    Those that come together also end together, so it is for calls of which a caller awaits all. For
    use in one event loop.
    """

    def __init__(self, send: Send) -> None:
        """``send`` takes a method's name and its calls."""
        self._send = send
        self._waiting: dict[str, list[BatchedCall]] = {}
        self._flights = SingleFlight[Sequence[Any]]()

    async def call(self, method: str, call: BatchedCall) -> Any:
        """The result of the call. Raises its exception, or that of ``send``.

        What is sent is cancelled when all that wait for it are.
        """
        if method not in self._waiting:
            self._waiting[method] = []
            asyncio.get_running_loop().call_soon(self._waiting.pop, method)
        calls = self._waiting[method]
        calls.append(call)
        at = len(calls) - 1

        async def send() -> Sequence[Any]:
            return await self._send(method, tuple(calls))

        outcome = (await self._flights.run(id(calls), send))[at]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome
