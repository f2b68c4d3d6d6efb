"""The classes that run in replicas: each builds its stage from the wiring inside the replica.

They are not decorated, so that they can be used without Ray; ``builder`` makes deployments of them.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any

from ray.serve.handle import DeploymentHandle
from starlette.types import ASGIApp

from nl2sql.answers import Answer
from nl2sql.deadline import ending_in
from nl2sql.errors import EngineUnavailable
from nl2sql.progress import observed_by
from nl2sql.protocols import Planner, Ranker, Repairer
from nl2sql.types import Completions, Principal, Progress, SamplingRequest
from quorumsql.contract import FeedbackRequest, FeedbackResponse, QueryRequest
from retrieval.catalogs import IndexedCatalogs
from serve_app.composition.access import build_access
from serve_app.composition.services import build_services
from serve_app.composition.stages import CpuStages, GuardedExecutor, Retrieval
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_http_app
from serve_app.ray.caller_watch import CallerWatch
from serve_app.ray.metrics import CacheReporter, RayMeter
from serve_app.ray.remote import (
    OtherReplicas,
    RemoteEngine,
    RemoteExecutor,
    RemotePlanner,
    RemoteRanker,
    RemoteRepairer,
    RemoteRetrieval,
)
from serve_app.ray.together import Call
from serve_app.ray.tracing import find_tracer
from serve_app.service.progress_queue import ProgressQueue
from serve_app.service.question_log import configure_logging
from serve_app.service.recorder import QuestionRecorder
from serve_app.service.running_queries import EventsPage, build_running_queries

# How long a stream waits for progress before it checks again.
_SILENCE_S = 5.0
_SWITCH_S = 0.0005


class StageReplica:
    """A stage in a deployment of its own; forwards all calls to the stage that it builds."""

    def __init__(
        self, build: Callable[..., object], wiring: Wiring, *handles: DeploymentHandle[Any]
    ) -> None:
        configure_logging(wiring.settings.observability)
        CacheReporter()
        self._stage: Any = build(wiring, *handles)

    def __getattr__(self, method: str) -> Any:
        """The stage's method; its call takes in addition what is left of the request's time."""
        if method.startswith("_"):
            raise AttributeError(method)
        forward = getattr(self._stage, method)

        async def call(*arguments: Any, left_s: float | None = None, **options: Any) -> Any:
            async with ending_in(left_s):
                return await forward(*arguments, **options)

        return call

    async def call_together(self, method: str, calls: tuple[Call, ...]) -> tuple[Any, ...]:
        """Result or exception of each call of the method; see ``Together``."""
        call = getattr(self, method)
        done = (call(*each.arguments, **each.options, left_s=each.left_s) for each in calls)
        return tuple(await asyncio.gather(*done, return_exceptions=True))


class EngineReplica(StageReplica):
    """The configured engine, in a deployment of its own."""

    # Ray Serve awaits it.
    async def __init__(self, wiring: Wiring) -> None:  # type: ignore[misc]
        super().__init__(lambda wiring: wiring.models.open_engine(), wiring)
        self._callers = CallerWatch()
        # Measured now, because a question at the same time would distort it.
        with suppress(EngineUnavailable):
            await self.speed()

    async def sample(
        self, request: SamplingRequest, caller: str = "", left_s: float | None = None
    ) -> Completions:
        """See ``Engine.sample``; ends with the actor of the name ``caller``, or after ``left_s``.

        Raises DeadlineExceeded after that time.
        """
        async with ending_in(left_s):
            return await self._callers.run(caller, self._stage.sample(request))

    async def sample_observed(
        self, request: SamplingRequest, caller: str = "", left_s: float | None = None
    ) -> AsyncIterator[Progress | Completions]:
        """As ``sample``, but yields progress before the completions."""
        queue = ProgressQueue()

        async def sample() -> Completions:
            with observed_by(queue):
                return await self.sample(request, caller, left_s)

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
        self._stage.check_health()


def build_retrieval(wiring: Wiring, executor: DeploymentHandle[Any]) -> Retrieval:
    """For a replica of its own."""
    return Retrieval(wiring, RemoteExecutor("executor", executor))


def build_planner(wiring: Wiring, engine: DeploymentHandle[Any]) -> Planner:
    """For a replica of its own."""
    return wiring.build_planner(RemoteEngine(engine))


def build_ranker(wiring: Wiring, executor: DeploymentHandle[Any]) -> Ranker:
    """For a replica of its own."""
    guarded = RemoteExecutor("executor", executor)
    return wiring.build_ranker(guarded, guarded)


def build_repairer(wiring: Wiring, engine: DeploymentHandle[Any]) -> Repairer:
    """For a replica of its own."""
    return wiring.build_repairer(RemoteEngine(engine))


def reach_stages(handles: Mapping[str, DeploymentHandle[Any]]) -> CpuStages:
    """All CPU stages through handles, which are keyed by deployment name."""
    return CpuStages(
        RemoteRetrieval("retriever", handles["retriever"]),
        RemotePlanner("planner", handles["planner"]),
        RemoteExecutor("executor", handles["executor"]),
        RemoteRanker("ranker", handles["ranker"]),
        RemoteRepairer("repairer", handles["repairer"]),
    )


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
            stages = reach_stages(handles)
        else:
            executor = GuardedExecutor(wiring, IndexedCatalogs(store))
            stages = CpuStages.build_here(wiring, model, store, executor)
        configure_logging(wiring.settings.observability)
        CacheReporter()
        self._settings = wiring.settings
        self._access = build_access(wiring.settings, store)
        self._services = build_services(
            wiring,
            model,
            stages,
            self._access,
            recorder=QuestionRecorder(wiring.settings, RayMeter(), find_tracer()),
            running=build_running_queries(wiring.settings, OtherReplicas()),
            store=store,
        )

    async def query(self, request: QueryRequest, principal: Principal) -> Answer:
        """For callers inside the cluster, over a handle. Raises what QueryService.query raises."""
        return await self._services.queries.query(request, principal)

    async def feedback(self, request: FeedbackRequest, principal: Principal) -> FeedbackResponse:
        """For callers inside the cluster, as ``query``. Raises what FeedbackService.take raises."""
        return await self._services.feedback.take(request, principal)

    async def read_events(
        self, name: str, principal: Principal, after: int, wait_s: float
    ) -> EventsPage | None:
        """For other replicas: see ``RunningQueries.read``."""
        return await self._services.queries.running.read(name, principal, after, wait_s)

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """Ray Serve calls this once after the constructor."""
        # Objects loaded so far are permanent. Excluding them from garbage collection avoids pauses
        # of the event loop of a tenth of a second.
        gc.collect()
        gc.freeze()
        return build_http_app(
            self._settings,
            self._services.queries,
            feedback=self._services.feedback,
            sessions=self._services.sessions,
            tools=self._services.tools,
            page=self._services.page,
            access=self._access,
        )
