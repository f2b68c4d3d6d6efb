"""The cookie of a sign-in, and which requests may be identified by it.

A browser sends a cookie with every request to its host, also with those that another page of the
same site makes. So a request that could change something must show that a page of this service made
it. Imports nothing of the index: Ray's HTTP proxy uses it too.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie

from starlette.types import Scope

from serve_app.http.entrance import find_header
from serve_app.http.origins import is_own_origin

NAME = "quorumsql_session"
_SAFE_METHODS = ("GET", "HEAD")


def read_cookie(scope: Scope) -> str:
    """The cookie of a sign-in; empty if there is none, or if there are several."""
    found = []
    for header in find_header(scope, b"cookie"):
        try:
            morsel = SimpleCookie(header).get(NAME)
        except CookieError:
            continue
        if morsel is not None:
            found.append(morsel.value)
    return found[0] if len(found) == 1 else ""


def write_cookie(value: str, *, lasts_s: float, is_secure: bool) -> str:
    """The ``Set-Cookie`` header; an empty value deletes the cookie.

    ``SameSite=Strict``: links from other sites open the page, which holds no data, and its own
    requests then carry the cookie.

    >>> write_cookie("abc", lasts_s=60, is_secure=True)
    'quorumsql_session=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure'
    """
    secure = "; Secure" if is_secure else ""
    return f"{NAME}={value}; Path=/; Max-Age={int(lasts_s)}; HttpOnly; SameSite=Strict{secure}"


def is_from_page(scope: Scope) -> bool:
    """Whether a page of this service made the request, or the request changes nothing.

    Browsers name the page in ``Origin`` for all methods but GET and HEAD.
    """
    if scope["method"] in _SAFE_METHODS:
        return True
    hosts, origins = find_header(scope, b"host"), find_header(scope, b"origin")
    if origins:
        return len(origins) == 1 and len(hosts) == 1 and is_own_origin(origins[0], hosts[0])
    return find_header(scope, b"sec-fetch-site") == ["same-origin"]
