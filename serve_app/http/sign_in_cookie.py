"""The cookies of signing in, and which requests may be identified by one.

A browser sends a cookie with every request to its host, also with those that another page of the
same site makes. So a request that could change something must show that a page of this service made
it. Imports nothing of the index: Ray's HTTP proxy uses it too.
"""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Scope

from serve_app.http.headers import find_header
from serve_app.http.origins import is_own_origin

NAME = "quorumsql_session"
# Of a sign-in at the identity provider that has begun. Its answer comes from another site.
PENDING_NAME = "quorumsql_attempt"
_ATTEMPT_S = 600
_ATTEMPT_PATH = "/sign-in"
_SAFE_METHODS = ("GET", "HEAD")


def read_cookie(scope: Scope, name: str = NAME) -> str:
    """A cookie; empty if there is none, or if there are several of that name.

    Another host of the same site can add one, but cannot take the service's own away.
    """
    found = []
    for header in find_header(scope, b"cookie"):
        for part in header.split(";"):
            own, _, value = part.strip().partition("=")
            if own == name:
                found.append(value)
    return found[0] if len(found) == 1 else ""


def set_cookie(response: Response, value: str, *, lasts_s: float, is_secure: bool) -> None:
    """Sets the cookie of a sign-in; an empty value deletes it.

    ``SameSite=Strict``: links from other sites open the page, which holds no data, and its own
    requests then carry the cookie.
    """
    response.set_cookie(
        NAME, value, int(lasts_s), httponly=True, samesite="strict", secure=is_secure
    )


def set_pending_cookie(response: Response, value: str, *, is_secure: bool) -> None:
    """Sets the cookie of an attempt; an empty value deletes it."""
    response.set_cookie(
        PENDING_NAME,
        value,
        _ATTEMPT_S if value else 0,
        path=_ATTEMPT_PATH,
        httponly=True,
        samesite="lax",
        secure=is_secure,
    )


def is_from_page(scope: Scope) -> bool:
    """Whether a page of this service made the request, or the request changes nothing.

    Browsers name the page in ``Origin`` for all methods but GET and HEAD.
    """
    if scope["method"] in _SAFE_METHODS:
        return True
    if find_header(scope, b"origin"):
        return not is_from_other_page(scope)
    return find_header(scope, b"sec-fetch-site") == ["same-origin"]


def is_from_other_page(scope: Scope) -> bool:
    """Whether the request names a page of another origin; clients that are no pages name none."""
    hosts, origins = find_header(scope, b"host"), find_header(scope, b"origin")
    if not origins:
        return False
    return not (len(origins) == 1 and len(hosts) == 1 and is_own_origin(origins[0], hosts[0]))
