"""Puts together what answers requests: the same services on Ray and in this process."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from execution.policies.policy_file import load_policy
from generation.sampling.pace import EnginePace
from nl2sql.errors import PolicyError
from nl2sql.protocols import Engine, Probe
from nl2sql.settings import Settings
from retrieval.conversations import GuardedConversations
from retrieval.examples.feedback import FeedbackWithdrawal
from retrieval.index_store.conversation_store import ConversationStore
from retrieval.index_store.feedback_store import FeedbackStore
from retrieval.index_store.store import IndexStore
from serve_app.composition.identity import IdentityParts
from serve_app.composition.stages import CpuStages
from serve_app.composition.wiring import Wiring
from serve_app.service.accounted_work import AccountedWork
from serve_app.service.feedback import FeedbackService, ReviewService
from serve_app.service.history import HistoryService, SessionService
from serve_app.service.identity.sign_ins import SignIns
from serve_app.service.profile import ProfileService
from serve_app.service.query_service import QueryService
from serve_app.service.recorder import QuestionRecorder
from serve_app.service.schema_service import SchemaService
from serve_app.service.tools import ToolService


@dataclass(frozen=True, slots=True)
class PageServices:
    """One for each group of routes; ``tools`` runs queries.

    ``sign_ins`` is None where requests need no token.
    """

    schema: SchemaService
    tools: ToolService
    profiles: ProfileService
    sign_ins: SignIns | None
    history: HistoryService
    review: ReviewService


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
    access: IdentityParts,
    *,
    recorder: QuestionRecorder | None = None,
    prepares_prompts: bool = True,
    store: IndexStore | None = None,
) -> Services:
    """The services over these stages.

    ``recorder`` is by default one without metrics and traces. With ``prepares_prompts`` an idle
    engine reads the prompts of likely questions in advance. With ``store``, the index, there are
    history and the other services of the page. Raises SettingsError.
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
            FeedbackStore(store) if store else None,
        ),
        SessionService(stages.sessions),
        tools,
        page,
    )


def build_conversations(
    settings: Settings, store: IndexStore, stages: CpuStages
) -> GuardedConversations:
    """The history of conversations, over the shared index."""
    return GuardedConversations(ConversationStore(store), stages.guard, settings.sessions)


def list_policy_roles(settings: Settings) -> dict[str, frozenset[str]]:
    """Database → the roles of its policy, by the files now; none for a policy that is wrong.

    Such a policy is reported by whatever it protects.
    """
    roles = {}
    for name, database in settings.databases.items():
        if database.policy is not None:
            with suppress(PolicyError):
                roles[name] = frozenset(load_policy(database.policy).roles)
    return roles


def build_page_services(
    settings: Settings,
    store: IndexStore,
    stages: CpuStages,
    *,
    queries: QueryService,
    tools: ToolService,
    conversations: GuardedConversations,
    access: IdentityParts,
) -> PageServices:
    """The services over these stages."""
    work, guard = AccountedWork(settings, access.accounting), stages.guard
    dialects = {name: database.dialect for name, database in settings.databases.items()}
    withdrawal = FeedbackWithdrawal(store, dialects)
    return PageServices(
        schema=SchemaService(settings, queries, stages.directory, stages.tables, work),
        tools=tools,
        profiles=ProfileService(
            settings, queries, stages.directory, access.meter, list_policy_roles(settings)
        ),
        sign_ins=access.identifier.sign_ins,
        history=HistoryService(settings, conversations, work),
        review=ReviewService(settings, FeedbackStore(store), guard, work, withdrawal),
    )
