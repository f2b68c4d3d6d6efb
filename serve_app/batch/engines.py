"""The engines of a job: Ray actors of their own, shared by all that answer questions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, cast

import ray
from ray.exceptions import RayActorError, RayTaskError

from generation.engines import OpenEngine
from nl2sql.errors import EngineUnavailable, QuorumError
from nl2sql.protocols import Engine
from nl2sql.speed import EngineSpeed
from nl2sql.types import Completions, SamplingRequest
from serve_app.composition.reopening_engine import ReopeningEngine, RetryingEngine, describe_problem
from serve_app.composition.wiring import Wiring
from serve_app.service.question_log import configure_logging

_LOG = logging.getLogger("quorumsql")

# Logical CPUs, for placement only.
_LOCAL_CPUS = 1.0
_REMOTE_CPUS = 0.1
# The engine batches concurrent requests.
_MOST_REQUESTS = 1024
_MOST_REPEATS = 5

BuildEngine = Callable[[Wiring], OpenEngine]


def build_configured(wiring: Wiring) -> OpenEngine:
    """The engine of the settings. Raises ModelError, EngineUnavailable, SettingsError."""
    return wiring.models.open_engine()


class BatchEngine:
    """One engine, which is reopened when it has died. Not decorated; ``start_engines`` does it.

    It is opened by the first call, because an error of ours can leave a call of an actor, but not
    its constructor.
    """

    def __init__(self, wiring: Wiring, build: BuildEngine) -> None:
        configure_logging(wiring.settings.observability)
        self._wiring = wiring
        self._build = build
        self._opening = asyncio.Lock()
        self._reopening: Engine | None = None
        self._engine: RetryingEngine | None = None

    async def sample(self, request: SamplingRequest) -> Completions:
        """See ``Engine.sample``."""
        return await (await self._open()).sample(request)

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """See ``Engine.count_tokens``."""
        return await (await self._open()).count_tokens(texts)

    async def speed(self) -> EngineSpeed | None:
        """See ``Engine.speed``."""
        return await (await self._open()).speed()

    async def find_problem(self) -> str:
        """What is wrong with the engine; empty if nothing is.

        Raises ModelError, EngineUnavailable, SettingsError if it cannot be opened.
        """
        await self._open()
        return await describe_problem(self._reopening)

    async def _open(self) -> RetryingEngine:
        async with self._opening:
            if self._engine is None:
                reopening = await asyncio.to_thread(
                    ReopeningEngine, lambda: self._build(self._wiring)
                )
                self._reopening = cast(Engine, reopening)
                self._engine = RetryingEngine(self._reopening, _LOG.warning)
            return self._engine


def count_cpus(wiring: Wiring) -> float:
    """The logical CPUs of an engine."""
    return _REMOTE_CPUS if wiring.settings.model.is_remote else _LOCAL_CPUS


def start_engines(wiring: Wiring, count: int, build: BuildEngine) -> list[Any]:
    """Starts the actors and returns their handles when all are ready.

    Raises ModelError, EngineUnavailable, SettingsError.
    """
    model = wiring.settings.model
    on_gpu = model.engine == "vllm" and ray.cluster_resources().get("GPU", 0) > 0
    actor = ray.remote(
        num_cpus=count_cpus(wiring),
        num_gpus=model.tensor_parallel_size if on_gpu else 0,
        max_concurrency=_MOST_REQUESTS,
        max_restarts=-1,
        # A request is repeated if its engine's process or machine dies.
        max_task_retries=_MOST_REPEATS,
    )(BatchEngine)
    engines = [actor.remote(wiring, build) for _ in range(count)]
    try:
        ray.get([engine.find_problem.remote() for engine in engines])
    except RayTaskError as error:
        if isinstance(error.cause, QuorumError):
            raise error.cause from error
        raise
    except RayActorError as error:
        raise EngineUnavailable(f"An engine's process died: {error}") from error
    return engines


class PooledEngine:
    """The engines behind their handles; each request goes to the one with the fewest from here."""

    def __init__(self, engines: Sequence[Any]) -> None:
        self._engines = list(engines)
        self._requests = [0] * len(self._engines)
        self._last = 0

    async def sample(self, request: SamplingRequest) -> Completions:
        """See ``Engine.sample``."""
        completions: Completions = await self._call("sample", request)
        return completions

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """See ``Engine.count_tokens``."""
        counts: tuple[int, ...] = await self._call("count_tokens", texts)
        return counts

    async def speed(self) -> EngineSpeed | None:
        """See ``Engine.speed``."""
        speed: EngineSpeed | None = await self._call("speed")
        return speed

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """See ``Probe.probe``."""
        return (("engine", await self._call("find_problem")),)

    async def _call(self, method: str, *arguments: Any) -> Any:
        chosen = self._choose()
        self._requests[chosen] += 1
        response = getattr(self._engines[chosen], method).remote(*arguments)
        try:
            return await response
        except asyncio.CancelledError:
            ray.cancel(response)
            raise
        except RayTaskError as error:
            if isinstance(error.cause, QuorumError):
                raise error.cause from error
            raise
        except RayActorError as error:
            raise EngineUnavailable("The engine does not answer.") from error
        finally:
            self._requests[chosen] -= 1

    def _choose(self) -> int:
        count = len(self._engines)
        in_turn = [(self._last + step) % count for step in range(1, count + 1)]
        self._last = min(in_turn, key=lambda number: self._requests[number])
        return self._last
