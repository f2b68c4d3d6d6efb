"""Finds the principal of a request before its body is read, and counts the request.

Probes need no token, because Kubernetes sends none; without one they return less. Nor do signing
in, which brings one, and signing out, which also deletes the cookie of a sign-in that has ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from nl2sql.errors import LimitReached, Unauthenticated, Unavailable
from nl2sql.types import Principal
from serve_app.http.headers import find_header
from serve_app.http.origins import PROBES
from serve_app.http.problems import render_error, render_problem
from serve_app.http.resource_metadata import ResourceMetadata
from serve_app.http.sign_in_cookie import is_from_other_page, is_from_page, read_cookie
from serve_app.service.identity.static_tokens import build_unknown, read_bearer_token
from serve_app.settings.identity import IdentitySettings

if TYPE_CHECKING:
    # Ray's proxy imports this module, and must not load the drivers of the index.
    from serve_app.service.identity.identifier import Identifier
    from serve_app.service.usage import UsageMeter


SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
PROVIDER, CALLBACK = "/sign-in/provider", "/sign-in/callback"
# What can be asked without a token.
OPEN = (*PROBES, SIGN_IN, SIGN_OUT, PROVIDER, CALLBACK)
_FOREIGN = render_problem(
    403,
    "Foreign page",
    "Signing in and out, and requests that a sign-in identifies, must come from a page of this "
    "service. Other clients send the header `Authorization`.",
)


@dataclass(frozen=True, slots=True)
class ProxyIdentifier:
    """For a process without the index: checks what the settings alone can decide.

    It knows the static tokens of its environment. If there are others (of another pod's secret, API
    keys, signed tokens), it lets every unknown token pass, and the replica decides. So it does with
    the cookie of a sign-in.
    """

    settings: IdentitySettings

    async def identify(self, authorization: str, cookie: str = "") -> Principal | None:
        """The principal; None if another process decides. Raises Unauthenticated.

        The cookie of a sign-in counts where there is no ``authorization``.
        """
        settings = self.settings
        if not settings.needs_token:
            return settings.principal()
        if cookie and not authorization:
            return None
        principal = settings.find_by_token(read_bearer_token(authorization))
        if principal is None and settings.knows_all_tokens():
            raise build_unknown()
        return principal


@dataclass(frozen=True, slots=True)
class Identification:
    """Sets ``principal`` in the scope's state, or answers 401 or 503; at a probe, sets None.

    Counts the requests of each principal, and answers 429 to those too many; probes are free.
    Without ``meter`` nothing is counted; ``metadata`` says where clients get a token.
    """

    app: ASGIApp
    identifier: Identifier | ProxyIdentifier
    meter: UsageMeter | None
    metadata: ResourceMetadata | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.metadata and (document := self.metadata.render(scope)):
            await document(scope, receive, send)
            return
        principal: Principal | None = None
        try:
            # Several headers are refused: a proxy in front may have checked another of them.
            authorization = ", ".join(find_header(scope, b"authorization"))
            cookie = "" if authorization else read_cookie(scope)
            is_signing = scope["path"] in (SIGN_IN, SIGN_OUT)
            if (cookie and not is_from_page(scope)) or (is_signing and is_from_other_page(scope)):
                await _FOREIGN(scope, receive, send)
                return
            principal = await self.identifier.identify(authorization, cookie)
        except (Unauthenticated, Unavailable) as error:
            if scope["path"] not in OPEN:
                refusal = render_error(error)
                if self.metadata and isinstance(error, Unauthenticated):
                    self.metadata.name_address(scope, refusal)
                await refusal(scope, receive, send)
                return
        state = scope.get("state", {})
        if state.get("is_foreign", False):
            principal = None
        if self.meter and principal is not None and scope["path"] not in PROBES:
            try:
                await self.meter.count_request(principal)
            except (LimitReached, Unavailable) as error:
                await render_error(error)(scope, receive, send)
                return
        await self.app({**scope, "state": {**state, "principal": principal}}, receive, send)
