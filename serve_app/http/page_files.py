"""Serves the files of the page, to everybody: they hold no data.

The files are read once and answered from memory, so that no path leads anywhere else. Knows nothing
of tokens; also runs in Ray's HTTP proxy.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources.abc import Traversable

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

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
_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".woff2": "font/woff2"}
_TEXTS = ("text/", "application/json", "image/svg+xml")


@dataclass(frozen=True)
class PageFile:
    """One file and its media type."""

    content: bytes
    media_type: str

    @cached_property
    def etag(self) -> str:
        """A name of the content, whether or not it is compressed."""
        return f'W/"{hashlib.sha256(self.content).hexdigest()[:32]}"'

    @cached_property
    def compressed(self) -> bytes | None:
        """The content for clients that read gzip; None if it would hardly be shorter."""
        return gzip.compress(self.content, mtime=0) if self.media_type.startswith(_TEXTS) else None


class PageFiles:
    """Answers ``/`` and ``/page/…``; passes every other request on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        is_page = path == "/" or path.startswith(PREFIX)
        if not is_page or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        file = read_files().get(_INDEX if path == "/" else path.removeprefix(PREFIX))
        if file is None:
            missing = render_problem(404, "Not found", "The page has no such file.")
            missing.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
            await missing(scope, receive, send)
            return
        response = _build_response(file, Headers(scope=scope))
        if scope["method"] == "HEAD":
            response.body = b""
        await response(scope, receive, send)


@lru_cache(maxsize=1)
def read_files() -> dict[str, PageFile]:
    """All files by their path below the folder."""
    return dict(_walk(STATIC, ""))


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, PageFile]]:
    for entry in folder.iterdir():
        path = f"{prefix}{entry.name}"
        if entry.is_dir():
            yield from _walk(entry, f"{path}/")
        else:
            ending = f".{entry.name.rpartition('.')[2]}"
            media_type = _TYPES.get(ending) or mimetypes.guess_type(entry.name)[0] or "text/plain"
            yield path, PageFile(entry.read_bytes(), media_type)


def _build_response(file: PageFile, headers: Headers) -> Response:
    sent = {**_HEADERS, "ETag": file.etag, "Vary": "Accept-Encoding"}
    if file.etag in [tag.strip() for tag in headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=sent)
    content = file.content
    reads_gzip = "gzip" in headers.get("accept-encoding", "")
    if reads_gzip and (compressed := file.compressed) is not None:
        content = compressed
        sent["Content-Encoding"] = "gzip"
    return Response(content, headers=sent, media_type=file.media_type)
