"""Puts together what answers requests: the same services on Ray and in this process."""

from __future__ import annotations

from nl2sql.protocols import Engine, Probe
from retrieval.index_store.audit_store import AuditStore
from retrieval.index_store.credentials import ApiKeyStore, SignInStore
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.feedback_store import FeedbackStore
from retrieval.index_store.store import IndexStore
from retrieval.index_store.usage_store import UsageStore
from serve_app.composition.stages import CpuStages
from serve_app.composition.wiring import Wiring
from serve_app.service.accounting import Accounting
from serve_app.service.feedback import FeedbackService
from serve_app.service.history import HistoryService
from serve_app.service.identity.identifier import Identifier
from serve_app.service.identity.jwt_verifier import JwtVerifier
from serve_app.service.identity.sign_ins import SignIns
from serve_app.service.profile import ProfileService
from serve_app.service.query_service import QueryService
from serve_app.service.recorder import QuestionRecorder
from serve_app.service.review import ReviewService
from serve_app.service.schema_service import SchemaService
from serve_app.service.services import PageServices, Services
from serve_app.service.tools import ToolService
from serve_app.service.trials import TrialService
from serve_app.service.usage import UsageMeter
from serve_app.settings import Settings


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
    identifier, meter, accounting = build_identity(settings, store)
    probes: dict[str, Probe] = dict(stages.probes)
    if isinstance(engine, Probe):
        probes["engine"] = engine
    queries = QueryService(
        settings,
        stages.build_pipeline(settings, engine),
        probes,
        wiring.build_prompt_preparation(engine, stages.retriever) if prepares_prompts else None,
        access=stages.directory,
        accounting=accounting,
        recorder=recorder,
    )
    tools = ToolService(
        settings,
        queries.admission,
        guard=stages.guard,
        executor=stages.executor,
        retriever=stages.retriever,
        schemas=stages.directory,
        accounting=accounting,
    )
    review = ReviewService(
        settings,
        FeedbackStore(store),
        stages.guard,
        accounting,
        stages.feedback,
        ExampleStore(store),
    )
    page = PageServices(
        SchemaService(settings, queries, stages.directory, accounting),
        ProfileService(settings, queries, stages.directory, meter),
        HistoryService(settings, stages.conversations, accounting),
        review,
        TrialService(review, queries, tools),
    )
    return Services(
        settings,
        queries,
        tools,
        FeedbackService(settings, stages.feedback, queries.admission, review),
        page,
        identifier,
        meter,
    )


def build_identity(
    settings: Settings, store: IndexStore
) -> tuple[Identifier, UsageMeter, Accounting]:
    """The parts over the index, which is used only for keys, sign-ins, limits and the audit log.

    Raises SettingsError if the secret for the identity provider is missing.
    """
    identity = settings.identity
    meter = UsageMeter(
        UsageStore(store),
        identity,
        question_timeout_s=settings.limits.request_timeout_ms / 1000,
        unanswered_tokens=settings.model.max_model_len,
    )
    keys = ApiKeyStore(store) if identity.api_keys else None
    verifier = JwtVerifier(identity.jwt) if identity.jwt.is_used else None
    sign_ins = provider = None
    if settings.page.enabled and identity.needs_token:
        if identity.login.is_used and verifier is not None:
            from serve_app.service.identity.provider import ProviderLogin

            provider = ProviderLogin(identity, verifier)
        sign_ins = SignIns(
            identity,
            SignInStore(store),
            hours=settings.page.sign_in_hours,
            keys=keys,
            verifier=verifier,
            provider=provider,
        )
    days = settings.audit.keep_days
    log = AuditStore(store, keep_days=days) if settings.audit.enabled else None
    return Identifier(identity, keys, verifier, sign_ins), meter, Accounting(meter, log)
