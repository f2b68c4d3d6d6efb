"""Keys and signed tokens of an identity provider, and its HTTP server."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

AUDIENCE = "quorumsql"


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

    def answer(self, path: str) -> tuple[int, bytes]:
        self.requests.append(path)
        if self.is_down:
            return 500, b""
        if path == "/.well-known/openid-configuration":
            document: Any = {"issuer": self.issuer, "jwks_uri": self.jwks_url}
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
            status, content = provider.answer(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = IdentityProvider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
