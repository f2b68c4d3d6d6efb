"""The classes that run in replicas: each builds its stage from the wiring inside the replica.

They are not decorated, so that they can be used without Ray; ``builder`` makes deployments of them.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ray.serve.handle import DeploymentHandle
from starlette.types import ASGIApp

from execution.executor import ReadOnlyExecutor
from generation.sampling.pace import EnginePace
from nl2sql.answers import Answer
from nl2sql.errors import EngineUnavailable
from nl2sql.progress import observed_by
from nl2sql.protocols import Engine, Executor, Planner, Ranker, Repairer
from nl2sql.speed import EngineSpeed
from nl2sql.types import Completions, Principal, Progress, SamplingRequest
from quorumsql.contract import FeedbackRequest, FeedbackResponse, QueryRequest
from retrieval.catalogs import IndexedCatalogs
from serve_app.composition.access import build_access
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_http_app
from serve_app.ray.metrics import CacheReporter, RayMeter
from serve_app.ray.remote import (
    RemoteEngine,
    RemoteExecutor,
    RemotePlanner,
    RemoteRanker,
    RemoteRepairer,
    RemoteRetrieval,
)
from serve_app.ray.tracing import find_tracer
from serve_app.service.feedback import FeedbackService
from serve_app.service.progress_queue import ProgressQueue
from serve_app.service.query_service import QueryService
from serve_app.service.question_log import configure_logging
from serve_app.service.recorder import QuestionRecorder
from serve_app.service.sessions import SessionService
from serve_app.service.tools import ToolService

# How long a stream waits for progress before it checks again.
_SILENCE_S = 5.0
_SWITCH_S = 0.0005


class EngineReplica:
    """The configured engine, in a deployment of its own."""

    # Ray Serve awaits it.
    async def __init__(self, wiring: Wiring) -> None:  # type: ignore[misc]
        configure_logging(wiring.settings.observability)
        self._engine = wiring.models.open_engine()
        # Measured now, because a question at the same time would distort it.
        with suppress(EngineUnavailable):
            await self._engine.speed()

    async def sample(self, request: SamplingRequest) -> Completions:
        """See ``Engine.sample``."""
        return await self._engine.sample(request)

    async def sample_observed(
        self, request: SamplingRequest
    ) -> AsyncIterator[Progress | Completions]:
        """As ``sample``, but yields progress before the completions."""
        queue = ProgressQueue()

        async def sample() -> Completions:
            with observed_by(queue):
                return await self._engine.sample(request)

        task = asyncio.create_task(sample())
        try:
            async for event in queue.follow(task, silence_s=_SILENCE_S):
                if isinstance(event, Progress):
                    yield event
            yield await task
        finally:
            task.cancel()
            await asyncio.wait({task})

    async def speed(self) -> EngineSpeed | None:
        """See ``Engine.speed``."""
        return await self._engine.speed()

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """See ``Engine.count_tokens``."""
        return await self._engine.count_tokens(texts)

    async def requests_in_flight(self) -> int:
        """See ``OpenEngine.requests_in_flight``."""
        return await self._engine.requests_in_flight()

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """See ``Probe.probe``."""
        return await self._engine.probe()

    def check_health(self) -> None:
        """For Ray Serve, which restarts a replica whose check raises."""
        self._engine.check_health()


class StageReplica:
    """A stage in a deployment of its own; forwards all calls to the stage that it builds."""

    def __init__(
        self, build: Callable[..., object], wiring: Wiring, *handles: DeploymentHandle[Any]
    ) -> None:
        configure_logging(wiring.settings.observability)
        CacheReporter()
        self._stage = build(wiring, *handles)

    def __getattr__(self, method: str) -> Any:
        if method.startswith("_"):
            raise AttributeError(method)
        return getattr(self._stage, method)


class GuardedExecutor:
    """The security boundary: the guard, and the read-only executor behind it."""

    def __init__(self, wiring: Wiring) -> None:
        self._guard = wiring.build_guard()
        self._executor = ReadOnlyExecutor(wiring.build_databases())
        self.guard = self._guard.guard
        self.explain = self._executor.explain
        self.execute = self._executor.execute
        self.close = self._executor.close

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """The databases, and the policies that guard them."""
        return (*await self._executor.probe(), *await self._guard.probe())


class Retrieval:
    """Stages 1 and 2, feedback, sessions, descriptions: all that uses index and embedder."""

    def __init__(self, wiring: Wiring, executor: Executor) -> None:
        store = wiring.build_index_store()
        embedder = wiring.models.build_embedder()
        # Loaded now, so that the first question need not wait for it.
        embedder.load()
        guard = wiring.build_guard(IndexedCatalogs(store))
        memory = wiring.build_value_memory(store)
        retriever = wiring.build_retriever(store, embedder, guard, executor, memory)
        feedback = wiring.build_feedback_recorder(store, embedder, guard, executor)
        sessions = wiring.build_sessions(store, guard)
        self.retrieve = retriever.retrieve
        self.list_beginnings = retriever.list_beginnings
        self.probe = retriever.probe
        self.take_feedback = feedback.take_feedback
        self.recall = sessions.recall
        self.remember = sessions.remember
        self.forget = sessions.forget
        directory = wiring.build_schema_directory(store, embedder, guard)
        self.list_admitted = directory.list_admitted
        self.describe_tables = directory.describe_tables
        self.list_examples = directory.list_examples


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


@dataclass(frozen=True, slots=True)
class CpuStages:
    """The stages that need no GPU, in this replica or in deployments of their own."""

    retrieval: Retrieval | RemoteRetrieval
    planner: Planner
    executor: GuardedExecutor | RemoteExecutor
    ranker: Ranker
    repairer: Repairer

    @classmethod
    def build_here(cls, wiring: Wiring, engine: Engine) -> CpuStages:
        """Builds all of them in this process."""
        executor = GuardedExecutor(wiring)
        return cls(
            Retrieval(wiring, executor),
            wiring.build_planner(engine),
            executor,
            wiring.build_ranker(executor, executor),
            wiring.build_repairer(engine),
        )

    @classmethod
    def reach(cls, handles: Mapping[str, DeploymentHandle[Any]]) -> CpuStages:
        """Reaches all of them through handles, which are keyed by deployment name."""
        return cls(
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
        stages = CpuStages.reach(handles) if handles else CpuStages.build_here(wiring, model)
        pipeline = wiring.build_pipeline(
            model,
            retriever=stages.retrieval,
            planner=stages.planner,
            guard=stages.executor,
            ranker=stages.ranker,
            repairer=stages.repairer,
            sessions=stages.retrieval,
        )
        probes = {"index": stages.retrieval, "databases": stages.executor, "engine": model}
        preparation = wiring.build_prompt_preparation(model, stages.retrieval)
        pace = EnginePace(model, wiring.settings)
        configure_logging(wiring.settings.observability)
        CacheReporter()
        # A small pool of its own: the stages may be in other replicas.
        self._access = build_access(wiring.settings, wiring.build_index_store())
        self._service = QueryService(
            wiring.settings,
            pipeline,
            probes,
            pace.read,
            preparation,
            admission=stages.retrieval,
            accounting=self._access.accounting,
            recorder=QuestionRecorder(wiring.settings, RayMeter(), find_tracer()),
        )
        self._tools = ToolService(
            wiring.settings,
            self._service.turns,
            guard=stages.executor,
            executor=stages.executor,
            retriever=stages.retrieval,
            schemas=stages.retrieval,
            accounting=self._access.accounting,
        )
        self._sessions = SessionService(stages.retrieval)
        self._feedback = FeedbackService(wiring.settings, stages.retrieval, self._service.turns)
        self._settings = wiring.settings

    async def query(self, request: QueryRequest, principal: Principal) -> Answer:
        """For callers inside the cluster, over a handle. Raises what QueryService.query raises."""
        return await self._service.query(request, principal)

    async def feedback(self, request: FeedbackRequest, principal: Principal) -> FeedbackResponse:
        """For callers inside the cluster, as ``query``. Raises what FeedbackService.take raises."""
        return await self._feedback.take(request, principal)

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """Ray Serve calls this once after the constructor."""
        # Objects loaded so far are permanent. Excluding them from garbage collection avoids pauses
        # of the event loop of a tenth of a second.
        gc.collect()
        gc.freeze()
        return build_http_app(
            self._settings,
            self._service,
            feedback=self._feedback,
            sessions=self._sessions,
            tools=self._tools,
            access=self._access,
        )
