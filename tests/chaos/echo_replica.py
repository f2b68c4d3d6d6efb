"""The replica of the engine, with an engine that echoes."""

from __future__ import annotations

from serve_app.ray.caller_watch import CallerWatch
from serve_app.ray.replicas import EngineReplica
from tests.serve_app.echo_engine import EchoEngine


class EchoReplica(EngineReplica):
    """Ends requests whose caller has died, as every engine's replica does."""

    def __init__(self) -> None:
        self._echo = EchoEngine()
        self._engine = self._echo  # type: ignore[assignment]
        self._callers = CallerWatch()

    async def counts(self) -> tuple[int, int]:
        """See ``EchoEngine.counts``."""
        return await self._echo.counts()

    def check_health(self) -> None:
        """Always well."""
