"""Stages behind deployment handles, with the methods of their protocols.

The pipeline calls coroutines and does not know whether they run here or in another replica. Our own
errors are raised again unchanged, and cancelling a call cancels the remote one. Each call carries
the seconds that its request has left, so that the work ends in time even if its caller has died.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

from grpc.aio import AioRpcError
from ray import serve
from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import (
    BackPressureError,
    DeploymentUnavailableError,
    RequestCancelledError,
)
from ray.serve.handle import DeploymentHandle

from nl2sql.browsing import TableBrowser
from nl2sql.deadline import read_left_s
from nl2sql.errors import QuorumError, Unavailable
from nl2sql.progress import is_observed, report_sampling
from nl2sql.protocols import (
    DatabaseAccess,
    Engine,
    Executor,
    FeedbackTaker,
    Guard,
    Planner,
    Probe,
    Ranker,
    Repairer,
    Retriever,
    SchemaReader,
    Sessions,
)
from nl2sql.speed import EngineSpeed
from nl2sql.types import (
    Assessment,
    Candidate,
    Completions,
    Definition,
    Diagnostic,
    ExecutionLimits,
    Explained,
    Feedback,
    FeedbackReceipt,
    FewShot,
    GuardedQuery,
    ModuleRoute,
    Plan,
    Principal,
    Progress,
    Question,
    Ranking,
    Repair,
    ResultSet,
    SamplingRequest,
    SchemaContext,
    TableDescriptions,
    TableDetails,
    TablePage,
    Turn,
    Violation,
)
from serve_app.ray.caller_watch import get_own_name
from serve_app.ray.together import Call, Together
from serve_app.service.running_queries import EventsPage

# How long the replicas may take to answer a request to all of them.
_BROADCAST_S = 5.0

_P = ParamSpec("_P")
_T = TypeVar("_T")
_NO_PLAN = Plan()


class RemoteStage:
    """A stage behind a handle; error messages contain ``name``."""

    def __init__(self, name: str, handle: DeploymentHandle[Any]) -> None:
        self._name = name
        # Over gRPC between the replicas, authenticated with Ray's token, a call takes half the
        # processor time that it takes as a task of Ray (docs/lab/service-and-guard.md).
        self._handle = handle.options(_by_reference=False)
        self._together = Together(self._send_together)

    async def _call(
        self,
        method: Callable[Concatenate[Any, _P], Coroutine[Any, Any, _T]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> _T:
        """Calls the replica's method of the same name as ``method`` of its protocol.

        Raises DeadlineExceeded if the request has no time left.
        """
        call = getattr(self._handle, method.__name__)
        response = call.remote(*arguments, **options, left_s=read_left_s())
        with _translate(self._name, response):
            answer: _T = await response
            return answer

    async def _call_together(
        self,
        method: Callable[Concatenate[Any, _P], Coroutine[Any, Any, _T]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> _T:
        """As ``_call``, for what is done for all candidates of a question at the same time."""
        call = Call(arguments, options, read_left_s())
        answer: _T = await self._together.call(method.__name__, call)
        return answer

    async def _send_together(self, method: str, calls: tuple[Call, ...]) -> Sequence[Any]:
        response = self._handle.call_together.remote(method, calls)
        with _translate(self._name, response):
            found: Sequence[Any] = await response
            return found

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """See ``Probe.probe``."""
        return await self._call(Probe.probe)


class RemoteRetrieval(RemoteStage):
    """Stages 1 and 2, feedback, sessions and the descriptions of databases."""

    async def retrieve(
        self, question: Question, *, draft: str = ""
    ) -> tuple[ModuleRoute, SchemaContext]:
        """See ``Retriever.retrieve``."""
        return await self._call(Retriever.retrieve, question, draft=draft)

    async def list_beginnings(
        self, database: str, principal: Principal
    ) -> tuple[SchemaContext, ...]:
        """See ``Retriever.list_beginnings``."""
        return await self._call(Retriever.list_beginnings, database, principal)

    async def take_feedback(self, feedback: Feedback) -> FeedbackReceipt:
        """See ``FeedbackTaker.take_feedback``."""
        return await self._call(FeedbackTaker.take_feedback, feedback)

    async def recall(self, question: Question) -> tuple[Turn, ...]:
        """See ``Sessions.recall``."""
        return await self._call(Sessions.recall, question)

    async def remember(self, question: Question, turn: Turn) -> None:
        """See ``Sessions.remember``."""
        await self._call(Sessions.remember, question, turn)

    async def forget(self, principal: Principal, session: str) -> int:
        """See ``Sessions.forget``."""
        return await self._call(Sessions.forget, principal, session)

    async def list_admitted(
        self, databases: tuple[str, ...], principal: Principal
    ) -> tuple[str, ...]:
        """See ``DatabaseAccess.list_admitted``."""
        return await self._call(DatabaseAccess.list_admitted, databases, principal)

    async def describe_tables(
        self, database: str, names: tuple[str, ...], principal: Principal, most: int
    ) -> TableDescriptions | Violation:
        """See ``SchemaReader.describe_tables``."""
        return await self._call(SchemaReader.describe_tables, database, names, principal, most)

    async def list_examples(self, database: str, principal: Principal) -> tuple[FewShot, ...]:
        """See ``SchemaReader.list_examples``."""
        return await self._call(SchemaReader.list_examples, database, principal)

    async def find_tables(
        self, database: str, search: str, principal: Principal, after: str, most: int
    ) -> TablePage | Violation:
        """See ``TableBrowser.find_tables``."""
        call = TableBrowser.find_tables
        return await self._call(call, database, search, principal, after, most)

    async def describe_table(
        self, database: str, name: str, principal: Principal
    ) -> TableDetails | Violation | None:
        """See ``TableBrowser.describe_table``."""
        return await self._call(TableBrowser.describe_table, database, name, principal)

    async def list_definitions(
        self, database: str, principal: Principal
    ) -> tuple[Definition, ...] | Violation:
        """See ``TableBrowser.list_definitions``."""
        return await self._call(TableBrowser.list_definitions, database, principal)


class RemotePlanner(RemoteStage):
    """Stage 3."""

    async def plan(self, question: Question, context: SchemaContext) -> Plan:
        """See ``Planner.plan``."""
        return await self._call(Planner.plan, question, context)


class RemoteExecutor(RemoteStage):
    """The guard, and the executor behind it."""

    async def guard(
        self, database: str, sql: str, principal: Principal
    ) -> GuardedQuery | Violation:
        """See ``Guard.guard``."""
        return await self._call_together(Guard.guard, database, sql, principal)

    async def explain(self, query: GuardedQuery) -> Explained | Diagnostic:
        """See ``Executor.explain``."""
        return await self._call_together(Executor.explain, query)

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> ResultSet | Diagnostic:
        """See ``Executor.execute``."""
        return await self._call(Executor.execute, query, max_rows, limits)


class RemoteRanker(RemoteStage):
    """Stage 6."""

    async def assess(
        self,
        question: Question,
        candidate: Candidate,
        query: GuardedQuery,
        context: SchemaContext,
        plan: Plan,
    ) -> Assessment:
        """See ``Ranker.assess``."""
        return await self._call_together(Ranker.assess, question, candidate, query, context, plan)

    async def rank(
        self, question: Question, assessments: tuple[Assessment, ...], *, samples: int
    ) -> Ranking:
        """See ``Ranker.rank``."""
        return await self._call(Ranker.rank, question, assessments, samples=samples)

    async def conclude(
        self, question: Question, context: SchemaContext, ranking: Ranking
    ) -> Ranking:
        """See ``Ranker.conclude``."""
        return await self._call(Ranker.conclude, question, context, ranking)


class RemoteRepairer(RemoteStage):
    """Stage 7."""

    async def repair(
        self,
        question: Question,
        context: SchemaContext,
        failed: Assessment,
        *,
        ask_model: bool,
        plan: Plan = _NO_PLAN,
        history: tuple[Assessment, ...] = (),
    ) -> tuple[Candidate | None, Repair]:
        """See ``Repairer.repair``."""
        # The model's repairs are not all awaited.
        call = self._call if ask_model else self._call_together
        return await call(
            Repairer.repair,
            question,
            context,
            failed,
            ask_model=ask_model,
            plan=plan,
            history=history,
        )

    async def derive(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        parents: tuple[Candidate, ...],
        known: tuple[str, ...],
    ) -> tuple[Candidate, ...]:
        """See ``Repairer.derive``."""
        return await self._call(Repairer.derive, question, context, plan, parents, known)


class RemoteEngine(RemoteStage):
    """The engine; it reports progress to the observer of a question."""

    def __init__(self, handle: DeploymentHandle[Any]) -> None:
        super().__init__("engine", handle)
        self._streaming = self._handle.options(stream=True)
        # The engine ends requests whose caller has died.
        self._caller = get_own_name()

    async def sample(self, request: SamplingRequest) -> Completions:
        """See ``Engine.sample``."""
        if not is_observed():
            response = self._handle.sample.remote(request, self._caller, read_left_s())
            with _translate(self._name, response):
                drawn: Completions = await response
                return drawn
        response = self._streaming.sample_observed.remote(request, self._caller, read_left_s())
        with _translate(self._name, response):
            async for item in response:
                if not isinstance(item, Progress):
                    drawn = item
                    return drawn
                report_sampling(response, item)
        raise Unavailable("The engine gave no answer.", hint="Try again later.")

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """See ``Engine.count_tokens``."""
        return await self._call(Engine.count_tokens, texts)

    async def speed(self) -> EngineSpeed | None:
        """See ``Engine.speed``."""
        return await self._call(Engine.speed)


class OtherReplicas:
    """All replicas of the ingress that runs this one, for rare requests: each of them is asked."""

    async def read_events(
        self, name: str, principal: Principal, after: int, wait_s: float
    ) -> EventsPage | None:
        """See ``Replicas.read_events``."""
        context = serve.get_replica_context()
        handle: DeploymentHandle[Any] = serve.get_deployment_handle(
            context.deployment, context.app_name
        )
        response = handle.broadcast("read_events", name, principal, after, wait_s)
        try:
            pages = await response.results_async(
                timeout_s=wait_s + _BROADCAST_S, return_exceptions=True
            )
        except TimeoutError as error:
            raise Unavailable("A replica does not answer.", hint="Try again later.") from error
        found = (page for page in pages if isinstance(page, EventsPage))
        return next(found, None)


@contextmanager
def _translate(name: str, response: Any) -> Iterator[None]:
    """Translates Ray's errors while the block waits for the response of the stage ``name``."""
    try:
        yield
    except asyncio.CancelledError:
        response.cancel()
        raise
    except RayTaskError as error:
        cause = error.cause
        if isinstance(cause, QuorumError):
            raise cause from error
        raise
    except (
        RayActorError,
        BackPressureError,
        DeploymentUnavailableError,
        RequestCancelledError,
        AioRpcError,
    ) as error:
        raise Unavailable(
            f"The {name} does not answer.",
            hint="It is restarting or overloaded; try again later.",
        ) from error
