"""Builds the services that the page uses besides those of questions."""

from __future__ import annotations

from contextlib import suppress

from execution.policies.policy_file import load_policy
from nl2sql.errors import PolicyError
from nl2sql.settings import Settings
from retrieval.conversations import GuardedConversations
from retrieval.examples.feedback import FeedbackWithdrawal
from retrieval.index_store.conversation_store import ConversationStore
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.review_store import ReviewStore
from retrieval.index_store.share_store import ShareStore
from retrieval.index_store.store import IndexStore
from serve_app.composition.access import AccessParts
from serve_app.composition.stages import CpuStages
from serve_app.service.history import HistoryService
from serve_app.service.operations import Operations
from serve_app.service.page_services import PageServices
from serve_app.service.profile import ProfileService
from serve_app.service.query_service import QueryService
from serve_app.service.review import ReviewService
from serve_app.service.schema_service import SchemaService
from serve_app.service.shares import ShareService
from serve_app.service.tools import ToolService


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
    access: AccessParts,
) -> PageServices:
    """The services over these stages."""
    operations, guard = Operations(settings, access.accounting), stages.guard
    dialects = {name: database.dialect for name, database in settings.databases.items()}
    withdrawal = FeedbackWithdrawal(ExampleStore(store), dialects)
    return PageServices(
        schema=SchemaService(settings, queries, stages.directory, stages.tables, operations),
        tools=tools,
        profiles=ProfileService(
            settings, queries, stages.directory, access.meter, list_policy_roles(settings)
        ),
        sign_ins=access.identifier.sign_ins,
        history=HistoryService(settings, conversations, operations),
        shares=ShareService(settings, ShareStore(store), guard, operations),
        review=ReviewService(settings, ReviewStore(store), guard, operations, withdrawal),
    )
