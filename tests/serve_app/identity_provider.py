"""Keys and signed tokens of an identity provider, and its HTTP server, where people sign in."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

AUDIENCE = "quorumsql"
CLIENT_ID, CLIENT_SECRET = "the-page", "s3cret of the client"


def build_rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def build_ec_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def describe_key(
    key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, key_id: str, **more: Any
) -> dict[str, Any]:
    """The public key as an entry of a JWKS document."""
    public: Any = key.public_key()
    algorithm = RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm
    entry: dict[str, Any] = algorithm.to_jwk(public, as_dict=True)
    return entry | {"kid": key_id, "use": "sig"} | more


def build_claims(issuer: str, **changed: Any) -> dict[str, Any]:
    """The claims of ann; None leaves one out."""
    now = int(time.time())
    claims = {
        "iss": issuer,
        "aud": AUDIENCE,
        "sub": "ann",
        "exp": now + 600,
        "iat": now,
        "roles": ["clerk"],
        **changed,
    }
    return {name: value for name, value in claims.items() if value is not None}


def sign(claims: dict[str, Any], key: Any, *, key_id: str = "1", algorithm: str = "RS256") -> str:
    headers = {"kid": key_id} if key_id else {}
    return jwt.encode(claims, key, algorithm=algorithm, headers=headers)


class IdentityProvider:
    """Serves ``keys`` as JWKS, and a discovery document; ``requests`` are the paths asked for."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.keys: list[dict[str, Any]] = []
        self.requests: list[str] = []
        self.is_down = False
        self.issuer = url
        self.jwks_url = f"{url}/keys"
        self.signing_key: Any = None
        # Where it says that it is asked; claims of ID tokens, and parameters with which browsers
        # return, that differ from what is right (None: left out).
        self.metadata: dict[str, Any] = {}
        self.claims: dict[str, Any] = {}
        self.returned: dict[str, str | None] = {}
        self._codes: dict[str, dict[str, str]] = {}

    def authorize(self, asked: Mapping[str, str]) -> str:
        """Where a browser goes that signed in as ann."""
        code = secrets.token_urlsafe(8)
        self._codes[code] = dict(asked)
        sent = {"code": code, "state": asked["state"], "iss": self.issuer, **self.returned}
        given = {name: value for name, value in sent.items() if value is not None}
        return f"{asked['redirect_uri']}?{urlencode(given)}"

    def redeem(self, sent: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        """The tokens for a code, once, for the client that asked for it."""
        asked = self._codes.pop(sent.get("code", ""), None)
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if (
            asked is None
            or asked["code_challenge_method"] != "S256"
            or asked["code_challenge"] != challenge
            or asked["redirect_uri"] != sent.get("redirect_uri")
            or (sent.get("client_id"), sent.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET)
        ):
            return 400, {"error": "invalid_grant"}
        right = {"aud": CLIENT_ID, "nonce": asked["nonce"]}
        claims = build_claims(self.issuer, **{**right, **self.claims})
        token = sign(claims, self.signing_key)
        return 200, {"access_token": "opaque", "token_type": "Bearer", "id_token": token}

    def answer(self, path: str) -> tuple[int, bytes]:
        self.requests.append(path)
        if self.is_down:
            return 500, b""
        if path == "/.well-known/openid-configuration":
            document: Any = {
                "issuer": self.issuer,
                "jwks_uri": self.jwks_url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
                **self.metadata,
            }
        elif path == "/keys":
            document = {"keys": self.keys}
        else:
            return 404, b""
        return 200, json.dumps(document).encode()


@contextmanager
def serve_provider() -> Iterator[IdentityProvider]:
    """An identity provider on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorize(dict(parse_qsl(parts.query))))
                self.end_headers()
                return
            self._send(*provider.answer(self.path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if provider.is_down:
                self._send(503, b"")
                return
            status, document = provider.redeem(dict(parse_qsl(body)))
            self._send(status, json.dumps(document).encode())

        def _send(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = IdentityProvider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
