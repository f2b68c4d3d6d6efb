"""Checks the ``Host`` and ``Origin`` headers of a request.

A foreign web page may let its own host name resolve to this machine (DNS rebinding) and then call
the service from a visitor's browser as its own origin: the ``Host`` header of such a request names
a foreign host. A request that the page sends to this service directly names the page in ``Origin``.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable

_HOST = re.compile(r"(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9_.-]{1,253}))(?::[0-9]{1,5})?")


def read_host(header: str) -> str:
    """The host of a ``Host`` header, without port and in lower case; empty if it is invalid.

    >>> read_host("Example.COM:8000"), read_host("[::1]:8000"), read_host("a b"), read_host("")
    ('example.com', '::1', '', '')
    """
    found = _HOST.fullmatch(header.lower())
    return (found[1] or found[2].removesuffix(".")) if found else ""


class HostRule:
    """Allows ``names``, and all hosts that a foreign name server cannot point here.

    Those are IP addresses, ``localhost`` and its subdomains, and this machine's own name.
    """

    def __init__(self, names: Iterable[str], machine: str | None = None) -> None:
        own = socket.gethostname() if machine is None else machine
        self._names = {*(name.lower() for name in names), "localhost", "*.localhost", own.lower()}

    def allows(self, header: str) -> bool:
        """Whether a request with that ``Host`` header is answered.

        >>> rule = HostRule(["*.example.com"], machine="box")
        >>> [rule.allows(host) for host in ("sql.example.com", "127.0.0.1:8000", "box", "evil.io")]
        [True, True, True, False]
        """
        host = read_host(header)
        if not host:
            return False
        if "*" in self._names or host in self._names or _is_address(host):
            return True
        labels = host.split(".")
        return any("*." + ".".join(labels[at:]) in self._names for at in range(1, len(labels)))


class OriginRule:
    """Allows ``origins``, pages of the service itself, and clients that are not web pages."""

    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(origins)

    def allows(self, origin: str | None, host: str) -> bool:
        """Whether a request with these ``Origin`` and ``Host`` headers is answered.

        >>> rule = OriginRule(["https://app.example.com"])
        >>> rule.allows(None, "h:1"), rule.allows("http://h:1", "h:1"), rule.allows("null", "h:1")
        (True, True, False)
        """
        return origin is None or origin in self._origins or is_own_origin(origin, host)


def is_own_origin(origin: str, host: str) -> bool:
    """Whether an ``Origin`` names the host that the request was sent to.

    >>> is_own_origin("https://sql.example.com", "sql.example.com"), is_own_origin("null", "h:1")
    (True, False)
    """
    scheme, _, authority = origin.lower().partition("://")
    return scheme in ("http", "https") and authority == host.lower()


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
