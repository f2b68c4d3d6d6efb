"""An engine for long runs in this process, which is reopened when it has died.

In the service, Ray replaces a replica whose ``check_health`` raises.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from generation.engines import OpenEngine
from nl2sql.errors import EngineUnavailable
from nl2sql.protocols import Probe


class ReopeningEngine:
    """Forwards all calls to the opened engine; ``probe`` also reopens a dead one.

    ``open_engine`` is called now, and again for each engine that died.
    """

    def __init__(self, open_engine: Callable[[], OpenEngine]) -> None:
        """Raises what ``open_engine`` raises."""
        self._open = open_engine
        self._engine: OpenEngine | None = open_engine()
        self._reopening = asyncio.Lock()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._engine is None:
            raise EngineUnavailable("The language model's engine has died.")
        return getattr(self._engine, name)

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """See ``Probe.probe``; reopens a dead engine first."""
        async with self._reopening:
            if (engine := self._engine) is not None:
                try:
                    engine.check_health()
                except EngineUnavailable:
                    self._engine = None
                    await engine.close()
            if self._engine is None:
                try:
                    self._engine = await asyncio.to_thread(self._open)
                except EngineUnavailable as error:
                    return (("engine", str(error)),)
        return await self._engine.probe()

    async def close(self) -> None:
        """Closes the engine."""
        if self._engine is not None:
            await self._engine.close()


async def describe_problem(engine: object) -> str:
    """The problem of an engine; empty if it has none, or cannot be probed."""
    if not isinstance(engine, Probe):
        return ""
    return next((problem for _, problem in await engine.probe() if problem), "")
