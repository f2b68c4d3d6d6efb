"""Builds what identifies principals, limits them and records their questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nl2sql.settings import Settings
from nl2sql.settings.identity import IdentitySettings
from retrieval.index_store.audit_store import AuditStore
from retrieval.index_store.credentials import ApiKeyStore, SignInStore
from retrieval.index_store.store import IndexStore
from retrieval.index_store.usage_store import UsageStore
from serve_app.service.accounting import Accounting
from serve_app.service.identity.identifier import Identifier
from serve_app.service.identity.jwt_verifier import JwtVerifier
from serve_app.service.identity.sign_ins import SignIns
from serve_app.service.services import IdentityParts
from serve_app.service.usage import UsageMeter

if TYPE_CHECKING:
    from serve_app.service.identity.provider import ProviderLogin


def build_identity(settings: Settings, store: IndexStore) -> IdentityParts:
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
    sign_ins = None
    if settings.page.enabled and identity.needs_token:
        sign_ins = SignIns(
            identity,
            SignInStore(store),
            hours=settings.page.sign_in_hours,
            keys=keys,
            verifier=verifier,
            provider=_build_provider(identity, verifier),
        )
    return IdentityParts(
        Identifier(identity, keys, verifier, sign_ins),
        meter,
        Accounting(
            meter,
            AuditStore(store, keep_days=settings.audit.keep_days)
            if settings.audit.enabled
            else None,
        ),
    )


def _build_provider(
    identity: IdentitySettings, verifier: JwtVerifier | None
) -> ProviderLogin | None:
    if not identity.login.is_used or verifier is None:
        return None
    from serve_app.service.identity.provider import ProviderLogin

    return ProviderLogin(
        identity.jwt, identity.login, verifier, secret=identity.login.read_secret()
    )
