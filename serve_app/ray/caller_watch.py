"""Cancels work whose caller has died.

Ray does not tell an actor that the process that waits for its answer has died, so the engine would
go on sampling for nobody. Callers are named actors, as all replicas of Ray Serve are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import ray
from ray.serve._private.constants import SERVE_NAMESPACE

_T = TypeVar("_T")

_PERIOD_S = 2.0


def get_own_name() -> str:
    """The name of the actor that runs this; empty outside an actor."""
    if not ray.is_initialized():
        return ""
    return ray.get_runtime_context().get_actor_name() or ""


def is_alive(name: str) -> bool:
    """Whether Serve has a living replica of this name; true if that cannot be found out."""
    try:
        ray.get_actor(name, namespace=SERVE_NAMESPACE)
    except ValueError:
        return False
    except Exception:  # Ray raises errors of many kinds while its head is away
        return True
    return True


class CallerWatch:
    """Runs work for callers, and looks from time to time whether they are still there."""

    def __init__(
        self, is_alive: Callable[[str], bool] = is_alive, *, period_s: float = _PERIOD_S
    ) -> None:
        self._is_alive = is_alive
        self._period_s = period_s
        self._running: dict[str, set[asyncio.Task[Any]]] = {}
        self._watching: asyncio.Task[None] | None = None

    async def run(self, caller: str, work: Coroutine[Any, Any, _T]) -> _T:
        """The result of ``work``, which is cancelled if ``caller`` dies; without a name, never."""
        if not caller:
            return await work
        task = asyncio.create_task(work)
        self._running.setdefault(caller, set()).add(task)
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())
        try:
            return await task
        finally:
            self._running[caller].discard(task)
            if not self._running[caller]:
                del self._running[caller]

    async def _watch(self) -> None:
        while self._running:
            await asyncio.sleep(self._period_s)
            for caller in tuple(self._running):
                if not await asyncio.to_thread(self._is_alive, caller):
                    for task in tuple(self._running.get(caller, ())):
                        task.cancel()
