"""Checks that the service does not answer anonymous clients on the network by accident."""

from __future__ import annotations

from nl2sql.errors import SettingsError
from nl2sql.settings import Settings


def check_exposure(settings: Settings, *, is_exposed: bool) -> None:
    """Raises SettingsError if other machines could ask anonymously and this is not allowed."""
    if is_exposed and not (settings.identity.needs_token or settings.serve.allow_anonymous):
        raise SettingsError(
            "The service would answer anyone on the network: it listens beyond this machine, and "
            "no principal has a token.",
            hint="Name a token under identity.principals.NAME.token_env, set identity.api_keys or "
            "identity.jwt, or set serve.allow_anonymous: true if a proxy in front of it "
            "authenticates clients.",
        )
