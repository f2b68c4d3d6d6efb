"""Checks that the service does not answer anonymous clients on the network by accident."""

from __future__ import annotations

import ipaddress

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


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address to listen on.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost")
    (True, True, True)
    >>> is_loopback("0.0.0.0"), is_loopback("::"), is_loopback("sql.example.com")
    (False, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
