"""Puts together what answers requests: the same services on Ray and in this process."""

from __future__ import annotations

from nl2sql.protocols import Engine, Probe
from retrieval.examples.feedback import FeedbackWithdrawal
from retrieval.index_store.feedback_store import FeedbackStore
from retrieval.index_store.store import IndexStore
from serve_app.composition.identity import build_identity
from serve_app.composition.stages import CpuStages
from serve_app.composition.wiring import Wiring
from serve_app.service.feedback import FeedbackService, ReviewService
from serve_app.service.history import HistoryService
from serve_app.service.profile import ProfileService
from serve_app.service.query_service import QueryService
from serve_app.service.recorder import QuestionRecorder
from serve_app.service.schema_service import SchemaService
from serve_app.service.services import PageServices, Services
from serve_app.service.tools import ToolService


def build_services(
    wiring: Wiring,
    engine: Engine,
    stages: CpuStages,
    store: IndexStore,
    *,
    recorder: QuestionRecorder | None = None,
    prepares_prompts: bool = True,
) -> Services:
    """The services over these stages and the index.

    ``recorder`` is by default one without metrics and traces. With ``prepares_prompts`` an idle
    engine reads the prompts of likely questions in advance. Raises SettingsError.
    """
    settings = wiring.settings
    access = build_identity(settings, store)
    feedback_store = FeedbackStore(store)
    pipeline = wiring.build_pipeline(
        engine,
        retriever=stages.retriever,
        planner=stages.planner,
        guard=stages.guard,
        ranker=stages.ranker,
        repairer=stages.repairer,
        sessions=stages.conversations,
    )
    probes: dict[str, Probe] = dict(stages.probes)
    if isinstance(engine, Probe):
        probes["engine"] = engine
    queries = QueryService(
        settings,
        pipeline,
        probes,
        wiring.build_prompt_preparation(engine, stages.retriever) if prepares_prompts else None,
        access=stages.directory,
        accounting=access.accounting,
        recorder=recorder,
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
    dialects = {name: database.dialect for name, database in settings.databases.items()}
    withdrawal = FeedbackWithdrawal(store, dialects)
    page = PageServices(
        SchemaService(settings, queries, stages.directory, stages.tables, access.accounting),
        ProfileService(settings, queries, stages.directory, access.meter),
        HistoryService(
            settings, wiring.build_conversations(store, stages.guard), access.accounting
        ),
        ReviewService(settings, feedback_store, stages.guard, access.accounting, withdrawal),
    )
    return Services(
        settings,
        queries,
        tools,
        FeedbackService(settings, stages.feedback, queries.admission, feedback_store),
        page,
        access,
    )
