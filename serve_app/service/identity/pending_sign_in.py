"""A sign-in at an identity provider that has begun: what its browser keeps until it returns.

One random secret is in a cookie of that browser alone. The state, the nonce and the code verifier
of the request follow from it, so that whatever returns with another secret is refused by any
replica, and none has to store anything.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

HOME = "/"
# The page is at "/"; its views are in the fragment. Nothing else is led to, so no other host.
_PLACE = re.compile(r"/(?:[?#][A-Za-z0-9_~!$&'()*+,=:@%/?#.-]{0,1000})?")
_COOKIE = re.compile(r"([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{0,1400})")


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """One sign-in; ``place`` is the address in the page to which the browser returns."""

    secret: str
    place: str

    @property
    def state(self) -> str:
        """What the provider returns with the code (RFC 6749, section 10.12)."""
        return self._derive("state")

    @property
    def nonce(self) -> str:
        """What the ID token must contain (OpenID Connect Core, section 3.1.2.1)."""
        return self._derive("nonce")

    @property
    def code_verifier(self) -> str:
        """What proves that the code was asked for here (PKCE, RFC 7636)."""
        return self._derive("code_verifier")

    def _derive(self, purpose: str) -> str:
        digest = hmac.digest(self.secret.encode(), purpose.encode(), hashlib.sha256)
        return _encode(digest)

    def write(self) -> str:
        """The value of the cookie."""
        return f"{self.secret}.{_encode(self.place.encode())}"


def begin_sign_in(place: str) -> PendingSignIn:
    """A new sign-in, which leads back to ``place`` if that is an address in the page."""
    return PendingSignIn(secrets.token_urlsafe(32), choose_place(place))


def read_pending_sign_in(cookie: str) -> PendingSignIn | None:
    """The sign-in of a cookie; None for any other text."""
    found = _COOKIE.fullmatch(cookie)
    if found is None:
        return None
    padded = found[2] + "=" * (-len(found[2]) % 4)
    try:
        place = base64.urlsafe_b64decode(padded).decode("ascii")
    except ValueError:
        return None
    return PendingSignIn(found[1], choose_place(place))


def choose_place(place: str) -> str:
    """``place`` if it is an address in the page, else the page's beginning.

    >>> choose_place("/#/schema/shop?table=orders"), choose_place("//evil.io"), choose_place("/me")
    ('/#/schema/shop?table=orders', '/', '/')
    """
    return place if _PLACE.fullmatch(place) else HOME


def _encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode("ascii").rstrip("=")
