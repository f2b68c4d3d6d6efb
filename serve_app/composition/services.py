"""Puts together what answers requests: the same services on Ray and in this process."""

from __future__ import annotations

from dataclasses import dataclass

from generation.sampling.pace import EnginePace
from nl2sql.protocols import Engine, Probe
from retrieval.index_store.review_store import ReviewStore
from retrieval.index_store.store import IndexStore
from serve_app.composition.access import AccessParts
from serve_app.composition.page import build_conversations, build_page_services
from serve_app.composition.stages import CpuStages
from serve_app.composition.wiring import Wiring
from serve_app.service.feedback import FeedbackService
from serve_app.service.page_services import PageServices
from serve_app.service.query_service import QueryService
from serve_app.service.recorder import QuestionRecorder
from serve_app.service.running_queries import RunningQueries
from serve_app.service.sessions import SessionService
from serve_app.service.tools import ToolService


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one process."""

    queries: QueryService
    feedback: FeedbackService
    sessions: SessionService
    tools: ToolService
    page: PageServices | None


def build_services(
    wiring: Wiring,
    engine: Engine,
    stages: CpuStages,
    access: AccessParts,
    *,
    recorder: QuestionRecorder | None = None,
    running: RunningQueries | None = None,
    prepares_prompts: bool = True,
    store: IndexStore | None = None,
) -> Services:
    """The services over these stages.

    ``recorder`` is by default one without metrics and traces; ``running`` by default knows the
    questions of this process only. With ``prepares_prompts`` an idle engine reads the prompts of
    likely questions in advance. With ``store``, the index, there are history, shares and the other
    services of the page. Raises SettingsError.
    """
    settings = wiring.settings
    pipeline = wiring.build_pipeline(
        engine,
        retriever=stages.retriever,
        planner=stages.planner,
        guard=stages.guard,
        ranker=stages.ranker,
        repairer=stages.repairer,
        sessions=stages.sessions,
    )
    probes: dict[str, Probe] = {**stages.probes, "audit log": access.accounting}
    if isinstance(engine, Probe):
        probes["engine"] = engine
    conversations = build_conversations(settings, store, stages) if store else None
    queries = QueryService(
        settings,
        pipeline,
        probes,
        EnginePace(engine, settings).read,
        wiring.build_prompt_preparation(engine, stages.retriever) if prepares_prompts else None,
        access=stages.directory,
        accounting=access.accounting,
        recorder=recorder,
        running=running,
        history=conversations,
    )
    tools = ToolService(
        settings,
        queries.admission,
        guard=stages.guard,
        executor=stages.executor,
        retriever=stages.retriever,
        schemas=stages.directory,
        accounting=access.accounting,
    )
    page = None
    if store is not None and conversations is not None:
        page = build_page_services(
            settings,
            store,
            stages,
            queries=queries,
            tools=tools,
            conversations=conversations,
            access=access,
        )
    return Services(
        queries,
        FeedbackService(
            settings,
            stages.feedback,
            queries.admission,
            ReviewStore(store) if store else None,
        ),
        SessionService(stages.sessions),
        tools,
        page,
    )
