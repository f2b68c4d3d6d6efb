"""Identifies the principal of a request before its body is read.

Probes need no token, because Kubernetes sends none; without one they return less.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from nl2sql.errors import Unauthenticated
from nl2sql.settings.identity import IdentitySettings
from nl2sql.types import Principal
from serve_app.http.entrance import PROBES, find_header
from serve_app.http.problems import render_error


def identify(settings: IdentitySettings, authorization: str) -> Principal:
    """The principal of a request with this ``Authorization`` header.

    The local principal if no principal of the settings has a token. Raises Unauthenticated.
    """
    if not settings.needs_token:
        return settings.principal()
    scheme, _, token = authorization.partition(" ")
    principal = settings.find_by_token(token.strip()) if scheme.lower() == "bearer" else None
    if principal is None:
        raise Unauthenticated(
            "The request carries no known token.",
            hint="Send the header `Authorization: Bearer …` with a token of one of the "
            "principals under identity.",
        )
    return principal


class Identification:
    """Sets ``principal`` in the scope's state, or answers 401; at a probe, sets None."""

    def __init__(self, app: ASGIApp, settings: IdentitySettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        principal: Principal | None = None
        try:
            # Several headers are refused: a proxy in front may have checked another of them.
            principal = identify(self._settings, ", ".join(find_header(scope, b"authorization")))
        except Unauthenticated as error:
            if scope["path"] not in PROBES:
                await render_error(error)(scope, receive, send)
                return
        state = scope.get("state", {})
        if state.get("is_foreign", False):
            principal = None
        await self._app({**scope, "state": {**state, "principal": principal}}, receive, send)
