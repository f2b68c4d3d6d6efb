"""The ways to sign in on the page. Needs nothing but the settings: Ray's HTTP proxy uses it too."""

from __future__ import annotations

from nl2sql.settings.identity import IdentitySettings
from nl2sql.settings.records import PageSettings
from quorumsql.contract.identity import SignInMethod


def list_sign_in_methods(
    identity: IdentitySettings, page: PageSettings
) -> tuple[SignInMethod, ...]:
    """``key``: by a token that requests may carry too. ``provider``: at the identity provider.

    Empty if requests need no token, or the page is switched off.

    >>> page = PageSettings()
    >>> list_sign_in_methods(IdentitySettings(api_keys=True), page), list_sign_in_methods(
    ...     IdentitySettings(), page
    ... )
    (('key',), ())
    """
    if not page.enabled or not identity.needs_token:
        return ()
    if not identity.login.is_used:
        return ("key",)
    # Nobody types a signed token where the provider can be asked.
    has_keys = identity.api_keys or identity.has_static_tokens
    return ("key", "provider") if has_keys else ("provider",)
