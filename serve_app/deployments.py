"""What runs in a replica: each stage's plain class, built from the wiring inside the replica.

Undecorated, so that each can be made and called without ray; ``builder`` turns them into
deployments.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, cast

from starlette.types import ASGIApp

from execution.executor import ReadOnlyExecutor
from generation.pace import EnginePace
from nl2sql.answers import Answer
from nl2sql.errors import EngineUnavailable
from nl2sql.progress import observed_by
from nl2sql.protocols import (
    Engine,
    Executor,
    FeedbackTaker,
    Guard,
    Planner,
    Probe,
    Ranker,
    Repairer,
    Retriever,
    Sessions,
)
from nl2sql.speed import EngineSpeed
from nl2sql.types import (
    Completions,
    Feedback,
    FeedbackReceipt,
    GuardedQuery,
    Principal,
    Progress,
    Question,
    SamplingRequest,
    Turn,
    Violation,
)
from ranking.ranker import CandidateRanker
from repair.repairer import CandidateRepairer
from retrieval.planner import SchemaPlanner
from retrieval.search.retriever import HybridRetriever
from serve_app.api import QueryRequest
from serve_app.feedback import FeedbackRequest, FeedbackResponse, FeedbackService
from serve_app.following import ProgressQueue
from serve_app.http_app import build_http_app
from serve_app.remote import RemoteEngine, RemoteStage
from serve_app.service import QueryService
from serve_app.sessions import SessionService
from serve_app.wiring import Wiring

# How long a stream looks for news before it looks again.
_SILENCE_S = 5.0


class EngineReplica:
    """The configured engine, in a deployment of its own."""

    # Ray Serve awaits it.
    async def __init__(self, wiring: Wiring) -> None:  # type: ignore[misc]
        self._engine = wiring.open_engine()
        # Before the first question comes, which would be measured with it.
        with suppress(EngineUnavailable):
            await self._engine.speed()

    async def sample(self, request: SamplingRequest) -> Completions:
        """See ``Engine.sample``."""
        return await self._engine.sample(request)

    async def sample_observed(
        self, request: SamplingRequest
    ) -> AsyncIterator[Progress | Completions]:
        """As ``sample``, with how far it is before."""
        queue = ProgressQueue()

        async def sample() -> Completions:
            with observed_by(queue):
                return await self._engine.sample(request)

        task = asyncio.create_task(sample())
        try:
            async for progress in queue.follow(task, silence_s=_SILENCE_S):
                if progress is not None:
                    yield progress
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


class RetrieverReplica(HybridRetriever):
    """Stages 1 and 2, feedback and sessions: here are the index, the embedder and the examples.

    ``executor`` is an ExecutorReplica or the handle of one.
    """

    def __init__(self, wiring: Wiring, executor: Any) -> None:
        store, embedder, guard, settings, flags = wiring.build_retriever_parts()
        is_here = isinstance(executor, ReadOnlyExecutor)
        door = cast(Executor, executor if is_here else RemoteStage("executor", executor))
        memory = wiring.build_value_memory(store)
        super().__init__(
            store,
            embedder,
            guard,
            settings,
            flags,
            values=wiring.build_value_search(memory, guard, door),
            examples=wiring.build_example_search(store, embedder, guard),
            glossary=wiring.build_glossary(memory, guard),
            modules=wiring.module_patterns(),
        )
        self._desk = wiring.build_feedback_desk(store, embedder, guard, door)
        self._sessions = wiring.build_sessions(store, guard)

    async def take_feedback(self, feedback: Feedback) -> FeedbackReceipt:
        """See ``FeedbackDesk.take_feedback``."""
        return await self._desk.take_feedback(feedback)

    async def recall(self, question: Question) -> tuple[Turn, ...]:
        """See ``GuardedSessions.recall``."""
        return await self._sessions.recall(question)

    async def remember(self, question: Question, turn: Turn) -> None:
        """See ``GuardedSessions.remember``."""
        await self._sessions.remember(question, turn)

    async def forget(self, principal: Principal, session: str) -> int:
        """See ``GuardedSessions.forget``."""
        return await self._sessions.forget(principal, session)


class PlannerReplica(SchemaPlanner):
    """Stage 3; ``engine`` is the handle of the engine."""

    def __init__(self, wiring: Wiring, engine: Any) -> None:
        settings = wiring.settings
        remote = cast(Engine, RemoteStage("engine", engine))
        super().__init__(settings.retrieval, settings.flags, remote)


class ExecutorReplica(ReadOnlyExecutor):
    """The security boundary in one place: the guard and the door to the databases."""

    def __init__(self, wiring: Wiring) -> None:
        super().__init__(wiring.build_databases())
        self._guard = wiring.build_guard()

    async def guard(
        self, database: str, sql: str, principal: Principal
    ) -> GuardedQuery | Violation:
        """See ``SqlGuard.guard``."""
        return await self._guard.guard(database, sql, principal)

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """The databases, and the policies that guard them."""
        return (*await super().probe(), *await self._guard.probe())


class RankerReplica(CandidateRanker):
    """Stage 6; ``executor`` is the handle of an ExecutorReplica."""

    def __init__(self, wiring: Wiring, executor: Any) -> None:
        remote = RemoteStage("executor", executor)
        super().__init__(
            cast(Guard, remote),
            cast(Executor, remote),
            wiring.settings,
            wiring.read_calibration(),
        )


class RepairerReplica(CandidateRepairer):
    """Stage 7; ``engine`` is the handle of the engine."""

    def __init__(self, wiring: Wiring, engine: Any) -> None:
        super().__init__(cast(Engine, RemoteStage("engine", engine)), wiring.settings)


class Ingress:
    """The HTTP interface and the pipeline.

    With ``handles`` (retriever, planner, executor, ranker, repairer) the CPU stages are other
    deployments; without, they live in this replica.
    """

    def __init__(self, wiring: Wiring, engine: Any, handles: dict[str, Any] | None = None) -> None:
        remote_engine = RemoteEngine(engine)
        stages: dict[str, Any]
        if handles:
            stages = {name: RemoteStage(name, handle) for name, handle in handles.items()}
        else:
            executor = ExecutorReplica(wiring)
            stages = {
                "retriever": RetrieverReplica(wiring, executor),
                "planner": PlannerReplica(wiring, engine),
                "executor": executor,
                "ranker": wiring.build_ranker(executor, executor),
                "repairer": wiring.build_repairer(cast(Engine, remote_engine)),
            }
        pipeline = wiring.build_pipeline(
            cast(Engine, remote_engine),
            retriever=cast(Retriever, stages["retriever"]),
            planner=cast(Planner, stages["planner"]),
            ranker=cast(Ranker, stages["ranker"]),
            repairer=cast(Repairer, stages["repairer"]),
            sessions=cast(Sessions, stages["retriever"]),
        )
        probes = {
            "index": cast(Probe, stages["retriever"]),
            "databases": cast(Probe, stages["executor"]),
            "engine": cast(Probe, remote_engine),
        }
        preparation = wiring.build_prompt_preparation(
            cast(Engine, remote_engine), cast(Retriever, stages["retriever"])
        )
        pace = EnginePace(cast(Engine, remote_engine), wiring.settings)
        self._service = QueryService(wiring.settings, pipeline, probes, pace.read, preparation)
        self._sessions = SessionService(cast(Sessions, stages["retriever"]))
        taker = cast(FeedbackTaker, stages["retriever"])
        self._feedback = FeedbackService(wiring.settings, taker, self._service.turns)
        self._settings = wiring.settings

    async def query(self, request: QueryRequest, principal: Principal) -> Answer:
        """For callers inside the cluster, over a handle. Raises what QueryService.query raises."""
        return await self._service.query(request, principal)

    async def feedback(self, request: FeedbackRequest, principal: Principal) -> FeedbackResponse:
        """For callers inside the cluster, as ``query``. Raises what FeedbackService.take raises."""
        return await self._feedback.take(request, principal)

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """Ray Serve calls this once after the constructor."""
        # What was loaded so far stays. Not to go through it again in each full collection of
        # garbage keeps the event loop from pauses of a tenth of a second.
        gc.collect()
        gc.freeze()
        return build_http_app(
            self._settings, self._service, feedback=self._feedback, sessions=self._sessions
        )
