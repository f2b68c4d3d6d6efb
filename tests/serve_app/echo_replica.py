"""The replica of the engine, with an engine that echoes."""

from __future__ import annotations

from serve_app.ray.engine_replica import EngineReplica
from tests.serve_app.echo_engine import EchoEngine


class EchoReplica(EngineReplica):
    """Ends requests in time, as every engine's replica does."""

    def __init__(self, engine: type[EchoEngine] = EchoEngine) -> None:
        self._engine = engine()
        self._parts = (self._engine,)

    async def check_health(self) -> None:
        """Always well."""
