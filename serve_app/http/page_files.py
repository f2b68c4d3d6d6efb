"""Serves the files of the page, to everybody: they hold no data.

Knows nothing of tokens; also runs in Ray's HTTP proxy.
"""

from __future__ import annotations

import mimetypes

from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from serve_app.http.headers import change_headers
from serve_app.http.problems import render_problem
from serve_app.page import STATIC

PREFIX = "/page/"
_INDEX = "index.html"
# Nothing from other hosts, no inline script or style, no frame around the page.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # A browser asks each time whether its copy is still current: most answers are 304.
    "Cache-Control": "no-cache",
}
# Python's own table lacks it.
mimetypes.add_type("font/woff2", ".woff2")


class PageFiles:
    """Answers ``/`` and ``/page/…``; passes every other request on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._files = StaticFiles(directory=str(STATIC))
        self._compressed = GZipMiddleware(self._serve)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        is_page = path == "/" or path.startswith(PREFIX)
        if not is_page or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        protected = change_headers(send, lambda headers, _: headers.update(_HEADERS))
        await self._compressed(scope, receive, protected)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix("/")
        try:
            response: Response = await self._files.get_response(
                path.removeprefix(PREFIX[1:]) if path else _INDEX, scope
            )
        except HTTPException:
            response = render_problem(404, "Not found", "The page has no such file.")
        await response(scope, receive, send)
