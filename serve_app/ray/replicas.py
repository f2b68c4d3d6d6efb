"""The classes that run in replicas: each builds its stage from the wiring inside the replica.

They are not decorated, so that they can be used without Ray; ``builder`` makes deployments of them.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from ray.serve.handle import DeploymentHandle
from starlette.types import ASGIApp

from nl2sql.concurrency import gather_all
from nl2sql.deadline import ending_in
from nl2sql.progress import observed_by
from nl2sql.protocols import Probe
from nl2sql.types import Completions, Progress, SamplingRequest
from retrieval.catalogs import IndexedCatalogs
from retrieval.planner import SchemaPlanner
from serve_app.composition import stages
from serve_app.composition.services import build_services
from serve_app.composition.stages import CpuStages
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_http_app
from serve_app.ray.call_batcher import BatchedCall
from serve_app.ray.metrics import RayMeter
from serve_app.ray.remote import RemoteEngine, RemoteStage
from serve_app.ray.tracing import find_tracer
from serve_app.service.progress_queue import ProgressQueue
from serve_app.service.question_log import configure_logging
from serve_app.service.recorder import QuestionRecorder

# How long a stream waits for progress before it checks again.
_SILENCE_S = 5.0
_SWITCH_S = 0.0005


class StageReplica:
    """A stage in a deployment of its own: the parts that it builds, all of whose methods it has."""

    def __init__(
        self,
        build: Callable[..., tuple[object, ...]],
        wiring: Wiring,
        *handles: DeploymentHandle[Any],
    ) -> None:
        configure_logging()
        self._parts: tuple[Any, ...] = build(wiring, *handles)

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


class EngineReplica(StageReplica):
    """The configured engine, in a deployment of its own."""

    # Ray Serve awaits it.
    async def __init__(self, wiring: Wiring) -> None:  # type: ignore[misc]
        super().__init__(lambda wiring: (wiring.models.open_engine(),), wiring)
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

        task = asyncio.create_task(sample())
        try:
            async for event in queue.follow(task, silence_s=_SILENCE_S):
                if isinstance(event, Progress):
                    yield event
            yield await task
        finally:
            task.cancel()
            await asyncio.wait({task})

    def check_health(self) -> None:
        """For Ray Serve, which restarts a replica whose check raises."""
        self._engine.check_health()


def build_retrieval(wiring: Wiring, executor: DeploymentHandle[Any]) -> tuple[object, ...]:
    """The retriever, feedback, sessions and the descriptions of databases."""
    store = wiring.build_index_store()
    guard = wiring.build_guard(IndexedCatalogs(store))
    return stages.build_retrieval(wiring, store, guard, _reach("executor", executor))


def build_planner(wiring: Wiring) -> tuple[object, ...]:
    """The planner."""
    return (SchemaPlanner(wiring.settings.flags),)


def build_executor(wiring: Wiring) -> tuple[object, ...]:
    """The security boundary: the guard, and the read-only executor behind it."""
    return (wiring.build_guard(), wiring.build_executor())


def build_ranker(wiring: Wiring, executor: DeploymentHandle[Any]) -> tuple[object, ...]:
    """The ranker."""
    guarded = _reach("executor", executor)
    return (wiring.build_ranker(guarded, guarded),)


def build_repairer(wiring: Wiring, engine: DeploymentHandle[Any]) -> tuple[object, ...]:
    """The repairer."""
    return (wiring.build_repairer(RemoteEngine(engine)),)


def reach_stages(handles: Mapping[str, DeploymentHandle[Any]]) -> CpuStages:
    """All CPU stages through handles, which are keyed by deployment name."""
    retrieval, executor = (_reach(name, handles[name]) for name in ("retriever", "executor"))
    planner, ranker, repairer = (
        _reach(name, handles[name]) for name in ("planner", "ranker", "repairer")
    )
    return CpuStages(
        retriever=retrieval,
        directory=retrieval,
        tables=retrieval,
        feedback=retrieval,
        conversations=retrieval,
        planner=planner,
        guard=executor,
        executor=executor,
        ranker=ranker,
        repairer=repairer,
        probes={"index": retrieval, "databases": executor},
    )


def _reach(name: str, handle: DeploymentHandle[Any]) -> Any:
    """The stage behind the handle; its methods are found when they are called."""
    return RemoteStage(name, handle)


class Ingress:
    """The HTTP interface and the pipeline; with ``handles`` the CPU stages are deployments."""

    def __init__(
        self,
        wiring: Wiring,
        engine: DeploymentHandle[Any],
        handles: Mapping[str, DeploymentHandle[Any]] | None = None,
    ) -> None:
        # SQL is parsed in threads beside the event loop. Each time the loop waits for a socket, a
        # thread keeps the interpreter for this interval (5 ms by default), and the waits add up.
        sys.setswitchinterval(_SWITCH_S)
        model = RemoteEngine(engine)
        store = wiring.build_index_store()
        if handles:
            cpu_stages = reach_stages(handles)
        else:
            executor = wiring.build_executor()
            cpu_stages = CpuStages.build_here(wiring, model, store, executor)
        configure_logging()
        self._services = build_services(
            wiring,
            model,
            cpu_stages,
            store,
            recorder=QuestionRecorder(wiring.settings, RayMeter(), find_tracer()),
        )

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """Ray Serve calls this once after the constructor."""
        # Objects loaded so far are permanent. Excluding them from garbage collection avoids pauses
        # of the event loop of a tenth of a second.
        gc.collect()
        gc.freeze()
        return build_http_app(self._services)
