"""Whether an address is one of this machine alone.

Requests to it never go through a proxy of the environment, which would look for its own machine.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on ``host``.

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


def is_on_loopback(url: str) -> bool:
    """The same of a URL.

    >>> is_on_loopback("http://localhost:11434/v1"), is_on_loopback("http://gpu.example.com/v1")
    (True, False)
    """
    return is_loopback(urlsplit(url).hostname or "")
