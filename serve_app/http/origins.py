"""Checks the ``Host`` and ``Origin`` headers of a request.

A foreign web page may let its own host name resolve to this machine (DNS rebinding) and then call
the service from a visitor's browser as its own origin: the ``Host`` header of such a request names
a foreign host. A request that the page sends to this service directly names the page in ``Origin``.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from fastapi.responses import JSONResponse
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

from serve_app.http.headers import change_headers, find_header
from serve_app.http.problems import render_problem

# A health check may use any host name. The last is the probe of Ray's proxy, which KubeRay calls.
PROBES = ("/healthz", "/readyz", "/-/healthz")

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


@dataclass(frozen=True, slots=True)
class OriginCheck:
    """The outermost middleware: answers 421 and 403, and adds headers to every response.

    What is no request, such as the server's start, goes to ``routes`` without further checks.

    Allows pages of ``origins`` and of the service itself, and clients that are not web pages.
    Leaves ``is_foreign`` in the scope's state: a health check may use any host name, and then gets
    a shorter answer.
    """

    app: ASGIApp
    hosts: HostRule
    origins: Collection[str]
    routes: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.routes(scope, receive, send)
            return

        send = change_headers(send, _protect)
        refusal = self._refuse(scope)
        if refusal is not None and scope["path"] not in PROBES:
            await refusal(scope, receive, send)
            return
        state = {**scope.get("state", {}), "is_foreign": refusal is not None}
        await self.app({**scope, "state": state}, receive, send)

    def _refuse(self, scope: Scope) -> JSONResponse | None:
        hosts = find_header(scope, b"host")
        origins = find_header(scope, b"origin")
        if len(hosts) != 1 or not self.hosts.allows(hosts[0]):
            return render_problem(
                421,
                "Unknown host",
                "The Host header names no host of this service. Use an IP address or localhost, "
                "or add the name to serve.allowed_hosts.",
            )
        origin = ", ".join(origins)
        if origins:
            is_foreign = origin not in self.origins and not is_own_origin(origin, hosts[0])
        else:
            is_foreign = _is_embedded_elsewhere(scope)
        if is_foreign:
            return render_problem(
                403,
                "Foreign page",
                "Web pages of other origins may not use this service. To allow this one, add its "
                "origin to serve.allowed_origins.",
            )
        return None


def _protect(headers: MutableHeaders, _: int) -> None:
    # Browsers must not guess another type.
    headers["X-Content-Type-Options"] = "nosniff"
    # Caches must not store one principal's answer; only files have a tag.
    if "etag" not in headers:
        headers["Cache-Control"] = "no-store"


def _is_embedded_elsewhere(scope: Scope) -> bool:
    """Whether another site's page loads this as an image, script or frame, and not by a link."""
    site = find_header(scope, b"sec-fetch-site")
    mode = find_header(scope, b"sec-fetch-mode")
    dest = find_header(scope, b"sec-fetch-dest")
    is_link = mode == ["navigate"] and dest == ["document"] and scope["method"] == "GET"
    return site == ["cross-site"] and not is_link
