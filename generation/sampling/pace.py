"""The model's speed, measured once, and the time limit of sampling that follows from it."""

from __future__ import annotations

from generation.engines.model_choice import describe_choice
from nl2sql.errors import EngineUnavailable
from nl2sql.protocols import Engine
from nl2sql.settings import Settings
from nl2sql.speed import EngineSpeed, Pace, choose_sampling_timeout_s


class EnginePace:
    """The pace of one engine under ``limits.sampling_timeout_ms``."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._timeout_ms = settings.limits.sampling_timeout_ms
        self._model = settings.model.name
        self._folder = settings.models_folder
        self._known: Pace | None = None

    async def read(self) -> Pace:
        """The pace; while the engine does not answer, its speed is unknown."""
        if self._known is not None:
            return self._known
        try:
            speed = await self._engine.speed()
        except EngineUnavailable:
            return self._build(None)
        self._known = self._build(speed)
        return self._known

    def _build(self, speed: EngineSpeed | None) -> Pace:
        choice = describe_choice(self._folder, self._model)
        return Pace(speed, self._choose_timeout_s(speed), self._model, choice)

    def _choose_timeout_s(self, speed: EngineSpeed | None) -> float | None:
        if self._timeout_ms is None:
            return choose_sampling_timeout_s(speed)
        return self._timeout_ms / 1000 if self._timeout_ms else None
