"""The class that runs in the replica of a stage; ``builder`` makes deployments of it.

It is not decorated, so that it can be used without Ray. A replica imports what its stage needs: the
module of the function that builds its parts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nl2sql.concurrency import gather_all
from nl2sql.deadline import ending_in
from nl2sql.protocols import Probe
from serve_app.ray.call_batcher import BatchedCall
from serve_app.service.question_log import configure_logging


class StageReplica:
    """A stage in a deployment of its own: the parts that it builds, all of whose methods it has."""

    def __init__(self, build: Callable[..., tuple[object, ...]], *arguments: object) -> None:
        configure_logging()
        self._parts: tuple[Any, ...] = build(*arguments)

    def __getattr__(self, method: str) -> Any:
        """A part's method; its call takes in addition what is left of the request's time."""
        if method.startswith("_"):
            raise AttributeError(method)
        forward = next(
            (getattr(part, method) for part in self._parts if hasattr(part, method)), None
        )
        if forward is None:
            raise AttributeError(method)

        async def call(*arguments: Any, left_s: float | None = None, **options: Any) -> Any:
            async with ending_in(left_s):
                return await forward(*arguments, **options)

        return call

    async def probe(self, left_s: float | None = None) -> tuple[tuple[str, str], ...]:
        """See ``Probe.probe``: of all parts that can be probed."""
        async with ending_in(left_s):
            found = await gather_all(
                part.probe() for part in self._parts if isinstance(part, Probe)
            )
        return tuple(pair for pairs in found for pair in pairs)

    async def call_together(self, method: str, calls: tuple[BatchedCall, ...]) -> tuple[Any, ...]:
        """Result or exception of each call of the method; see ``CallBatcher``."""
        call = getattr(self, method)
        done = (call(*each.arguments, **each.options, left_s=each.left_s) for each in calls)
        return tuple(await asyncio.gather(*done, return_exceptions=True))
