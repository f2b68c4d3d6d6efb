"""The class that runs in the replica of the engine.

It imports the engine alone: after this its model is loaded, for which a service that starts waits.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from nl2sql.concurrency import running
from nl2sql.progress import observed_by
from nl2sql.types import Completions, Progress, SamplingRequest
from serve_app.composition.models import Models
from serve_app.ray.stage_replica import StageReplica
from serve_app.service.progress_queue import ProgressQueue

# How long a stream waits for progress before it checks again.
_SILENCE_S = 5.0


class EngineReplica(StageReplica):
    """The configured engine, in a deployment of its own."""

    # Ray Serve awaits it.
    async def __init__(self, models: Models) -> None:  # type: ignore[misc]
        super().__init__(lambda: (models.open_engine(),))
        (self._engine,) = self._parts

    async def sample_observed(
        self, request: SamplingRequest, left_s: float | None = None
    ) -> AsyncIterator[Progress | Completions]:
        """As ``Engine.sample``, but yields progress before the completions.

        Raises DeadlineExceeded after ``left_s``.
        """
        queue = ProgressQueue()

        async def sample() -> Completions:
            with observed_by(queue):
                drawn: Completions = await self.sample(request, left_s=left_s)
                return drawn

        async with running(sample()) as task:
            async for event in queue.follow(task, silence_s=_SILENCE_S):
                if isinstance(event, Progress):
                    yield event
            yield await task

    async def check_health(self) -> None:
        """For Ray Serve, which restarts a replica whose check raises or does not return."""
        await self._engine.check_health()
