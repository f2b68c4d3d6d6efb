"""The HTTP interface over fakes: the application, a client of it, and a port for the command."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import httpx
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from execution.guard.guard import SqlGuard
from nl2sql.pipeline.dialogue import Dialogue
from nl2sql.pipeline.pipeline import Pipeline
from nl2sql.pipeline.stages import Stages
from nl2sql.protocols import (
    Answerer,
    Conversations,
    Executor,
    Generator,
    Guard,
    Probe,
    Repairer,
)
from nl2sql.types import Generated, Question, ResultSet
from ranking.ranker import CandidateRanker
from retrieval.schema_directory import SchemaDirectory
from serve_app.http.app import build_http_app
from serve_app.service.accounting import Accounting
from serve_app.service.feedback import FeedbackService
from serve_app.service.identity.identifier import Identifier
from serve_app.service.query_service import QueryService
from serve_app.service.recorder import QuestionRecorder
from serve_app.service.services import Services
from serve_app.service.tools import ToolService
from serve_app.service.usage import UsageMeter
from serve_app.settings import Settings
from tests.fakes import (
    SHOP,
    SURE,
    FakeCatalogs,
    FakeExecutor,
    FakeGenerator,
    FakeGuard,
    FakePlanner,
    FakeRepairer,
    FakeRetriever,
    build_candidate,
    build_generated,
    build_settings,
)
from tests.retrieval.directories import build_directory

NO_TOOLS: Any = None
"""For services of which only questions are asked."""
Access = tuple[Identifier, UsageMeter | None, Accounting]
"""Who asks, and the limits and the audit log around each question."""

_NOTHING: Mapping[str, Sequence[ResultSet]] = MappingProxyType({})


class OneQueryGenerator(FakeGenerator):
    """The same candidate, ``SELECT 1``, for every question."""

    async def generate(self, question: Question, *_: Any, **__: Any) -> Generated:
        """See the class."""
        return build_generated(build_candidate("SELECT 1"))


def build_app(
    settings: Settings | None = None,
    *,
    taker: Any = None,
    access: Access | None = None,
    **stages: Any,
) -> ASGIApp:
    """The service over the ``stages`` of ``build_services``; with a ``taker`` it takes feedback."""
    settings = settings or build_settings()
    services = build_services(settings, access=access, **stages)
    admission = services.queries.admission
    feedback = FeedbackService(settings, taker, admission) if taker else None
    identifier, meter, _ = access or (None, None, None)
    return build_http_app(replace(services, feedback=feedback, identifier=identifier, meter=meter))


def build_services(
    settings: Settings,
    *,
    generator: Generator | None = None,
    guard: Guard | None = None,
    results: Mapping[str, Sequence[ResultSet]] = _NOTHING,
    executor: Executor | None = None,
    repairer: Repairer | None = None,
    probe: Probe | None = None,
    sessions: Conversations | None = None,
    schemas: SchemaDirectory | None = None,
    access: Access | None = None,
    recorder: QuestionRecorder | None = None,
) -> Services:
    """The services whose database answers with ``results``, by query, or is the ``executor``.

    With ``sessions`` they have conversations; ``schemas`` are by default the whole of ``SHOP``.
    """
    generator = generator or FakeGenerator()
    guard = guard or FakeGuard()
    executor = executor or FakeExecutor(results)
    ranker = CandidateRanker(guard, executor, settings, SURE)
    retriever = FakeRetriever()
    answerer: Answerer = Pipeline(
        Stages(retriever, FakePlanner(), generator, guard, ranker, repairer or FakeRepairer())
    )
    if sessions:
        answerer = Dialogue(answerer, generator, sessions)

    probes = {"parts": probe} if probe else {}
    service = QueryService(
        settings,
        answerer,
        probes,
        access=schemas,
        accounting=access[2] if access else None,
        recorder=recorder,
    )
    tools = ToolService(
        settings,
        service.admission,
        guard=guard,
        executor=executor,
        retriever=retriever,
        schemas=schemas or build_directory(SqlGuard(FakeCatalogs(SHOP))),
        accounting=access[2] if access else Accounting(),
    )
    return Services(settings, service, tools)


def connect(app: ASGIApp, address: str = "127.0.0.1") -> httpx.AsyncClient:
    """A client, to which whatever breaks is an answer too."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(address, 123))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost")


@contextmanager
def serve(app: ASGIApp, http: type[asyncio.Protocol] = HttpToolsProtocol) -> Iterator[str]:
    """The application on a port of its own: its address."""
    config = uvicorn.Config(app, port=0, log_level="error", lifespan="off", http=http)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
