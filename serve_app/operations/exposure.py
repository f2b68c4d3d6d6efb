"""Whether the service would answer whoever reaches it over the network."""

from __future__ import annotations

import ipaddress

from nl2sql.errors import SettingsError
from nl2sql.settings import Settings


def check_exposure(settings: Settings, *, is_exposed: bool) -> None:
    """``is_exposed``: other machines can reach the service. Raises SettingsError."""
    if is_exposed and not (settings.identity.needs_token or settings.serve.allow_anonymous):
        raise SettingsError(
            "The service would answer anybody who reaches it: it listens beyond this machine, and "
            "no principal has a token.",
            hint="Name a token under identity.principals.NAME.token_env; set "
            "serve.allow_anonymous: true where something in front of it knows who asks.",
        )


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is this machine's alone.

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
