"""Signed tokens: which are accepted, whom they name, and what every fault is answered with."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from nl2sql.errors import Unauthenticated, Unavailable
from nl2sql.types import Principal
from serve_app.service.identity.jwt_verifier import JwtVerifier
from serve_app.settings.identity import JwtSettings
from tests.serve_app.identity_provider import (
    AUDIENCE,
    IdentityProvider,
    build_claims,
    build_ec_key,
    build_rsa_key,
    describe_key,
    serve_provider,
    sign,
)

KEY = build_rsa_key()
OTHER_KEY = build_rsa_key()
EC_KEY = build_ec_key()
ISSUER = "https://login.example.com"


async def verify(verifier: JwtVerifier, token: str) -> Principal:
    return (await verifier.read(token)).principal


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with serve_provider() as running:
        running.keys = [describe_key(KEY, "1"), describe_key(EC_KEY, "2")]
        yield running


def build(source: IdentityProvider | Path, **more: Any) -> JwtVerifier:
    """A verifier that reads the keys from a provider or a file."""
    keys = {"jwks": str(source)} if isinstance(source, Path) else {}
    issuer = ISSUER if isinstance(source, Path) else source.url
    return JwtVerifier(JwtSettings(issuer=issuer, audience=AUDIENCE, **keys, **more))


@pytest.fixture
def verifier(tmp_path: Path) -> JwtVerifier:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [describe_key(KEY, "1"), describe_key(EC_KEY, "2")]}))
    return build(file)


async def test_a_valid_token_names_its_principal(verifier: JwtVerifier) -> None:
    claims = build_claims(ISSUER)
    assert await verify(verifier, sign(claims, KEY)) == Principal("ann", ("clerk",))
    by_curve = sign(claims, EC_KEY, key_id="2", algorithm="ES256")
    assert await verify(verifier, by_curve) == Principal("ann", ("clerk",))
    several = sign(build_claims(ISSUER, aud=["other", AUDIENCE]), KEY)
    assert await verify(verifier, several) == Principal("ann", ("clerk",))


async def test_claims_become_name_roles_attributes_and_databases(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [describe_key(KEY, "1")]}))
    mapping = {
        "name": "email",
        "roles": "realm_access.roles",
        "attributes": {"country": "https://example.com/country", "region_ids": "regions"},
        "databases": "dbs",
    }
    verifier = build(file, claims=mapping)
    claims = {
        "email": "ann@example.com",
        "realm_access": {"roles": ["clerk", "buyer"]},
        "https://example.com/country": "DE",
        "regions": [1, 2],
        "dbs": "shop erp",
    }
    found = await verify(verifier, sign(build_claims(ISSUER, **claims), KEY))
    attributes = (("country", "DE"), ("region_ids", (1, 2)))
    assert found == Principal("ann@example.com", ("clerk", "buyer"), attributes)
    assert found.access.databases == ("shop", "erp")
    for name in claims:
        with pytest.raises(Unauthenticated, match="has no claim"):
            await verify(verifier, sign(build_claims(ISSUER, **(claims | {name: None})), KEY))
    wrong: list[dict[str, Any]] = [
        {"regions": {"a": 1}},
        {"regions": [None]},
        {"email": 7},
        {"realm_access": {"roles": [1]}},
        {"dbs": []},
        {"dbs": ""},
    ]
    for changed in wrong:
        with pytest.raises(Unauthenticated, match="its claim"):
            await verify(verifier, sign(build_claims(ISSUER, **(claims | changed)), KEY))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"exp": int(time.time()) - 31}, "expired"),
        ({"exp": None}, 'missing the "exp"'),
        ({"exp": "soon"}, "must be an integer"),
        ({"nbf": int(time.time()) + 86_400}, "not yet valid"),
        ({"iat": int(time.time()) + 86_400}, "not yet valid"),
        ({"aud": "other"}, "Audience doesn't match"),
        ({"aud": None}, 'missing the "aud"'),
        ({"aud": []}, 'missing the "aud"'),
        ({"iss": "https://evil.example.com"}, "Invalid issuer"),
        ({"iss": f"{ISSUER}/"}, "Invalid issuer"),
        ({"iss": None}, 'missing the "iss"'),
        ({"sub": None}, "no claim sub"),
        ({"sub": ""}, "not a name"),
        ({"sub": "local"}, "not a name"),
        ({"sub": "a\0b"}, "not a name"),
        ({"sub": "a" * 201}, "not a name"),
        ({"roles": None}, "no claim roles"),
        ({"roles": {"a": 1}}, "not a list of names"),
    ],
)
async def test_wrong_claims_are_refused(
    verifier: JwtVerifier, changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(Unauthenticated, match=said):
        await verify(verifier, sign(build_claims(ISSUER, **changed), KEY))


async def test_clocks_may_differ_a_little(verifier: JwtVerifier) -> None:
    now = int(time.time())
    claims = build_claims(ISSUER, exp=now - 15, nbf=now + 15)
    assert (await verify(verifier, sign(claims, KEY))).name == "ann"


def encode(value: Any) -> str:
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def build_forged() -> dict[str, str]:
    claims = build_claims(ISSUER)
    valid = sign(claims, KEY)
    head, body, signature = valid.split(".")
    public = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    # PyJWT refuses to sign with a public key, so this one is signed by hand.
    signed = f"{encode({'alg': 'HS256', 'kid': '1', 'typ': 'JWT'})}.{encode(claims)}"
    confused = f"{signed}.{encode(hmac.new(public, signed.encode(), hashlib.sha256).digest())}"
    return {
        "alg_none": f"{encode({'alg': 'none', 'kid': '1'})}.{body}.",
        "alg_None": f"{encode({'alg': 'nOnE', 'kid': '1'})}.{body}.",
        "no_alg": f"{encode({'kid': '1'})}.{body}.{signature}",
        "shared_secret": jwt.encode(claims, "s" * 32, algorithm="HS256", headers={"kid": "1"}),
        "public_key_as_secret": confused,
        "other_key": sign(claims, OTHER_KEY),
        "unknown_key": sign(claims, OTHER_KEY, key_id="9"),
        "key_of_another_type": sign(claims, EC_KEY, key_id="1", algorithm="ES256"),
        "algorithm_not_accepted": jwt.encode(
            claims, "s" * 64, algorithm="HS512", headers={"kid": "1"}
        ),
        "no_key_id": sign(claims, KEY, key_id=""),
        "no_signature": f"{head}.{body}.",
        "changed_body": f"{head}.{encode(claims | {'roles': ['boss']})}.{signature}",
        "key_in_header": f"{encode({'alg': 'RS256', 'jwk': describe_key(OTHER_KEY, '1')})}."
        f"{body}.{sign(claims, OTHER_KEY).split('.')[2]}",
        "critical": jwt.encode(
            claims, KEY, algorithm="RS256", headers={"kid": "1", "crit": ["b64"], "b64": True}
        ),
        "key_id_is_no_text": f"{encode({'alg': 'RS256', 'kid': 1})}.{body}.{signature}",
        "no_json": f"{encode(b'no')}.{encode(b'no')}.{signature}",
        "list": f"{encode([])}.{encode([])}.{signature}",
        "deep": f"{encode(b'[' * 9000)}.{body}.{signature}",
        "dots": "..",
        "too_long": f"{head}.{'a' * 20_000}.{signature}",
        "not_ascii": f"é{valid}",
    }


@pytest.mark.parametrize("name", build_forged())
async def test_forged_tokens_are_refused(verifier: JwtVerifier, name: str) -> None:
    with pytest.raises(Unauthenticated, match="The signed token is refused"):
        await verify(verifier, build_forged()[name])


async def test_keys_are_discovered_from_the_issuer(provider: IdentityProvider) -> None:
    verifier = build(provider)
    token = sign(build_claims(provider.url), KEY)
    for _ in range(3):
        assert (await verify(verifier, token)).name == "ann"
    assert provider.requests == ["/.well-known/openid-configuration", "/keys"]


async def test_or_read_from_their_address(provider: IdentityProvider) -> None:
    verifier = build(provider, jwks=f"{provider.url}/keys")
    assert (await verify(verifier, sign(build_claims(provider.url), KEY))).name == "ann"
    assert provider.requests == ["/keys"]


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://evil.example.com"},
        {"jwks_url": "http://keys.example.com/keys"},
        {"jwks_url": "file:///etc/passwd"},
        {"is_down": True},
    ],
    ids=["other_issuer", "plain_http", "file", "down"],
)
async def test_without_keys_no_token_is_checked(
    provider: IdentityProvider, change: dict[str, Any]
) -> None:
    for name, value in change.items():
        setattr(provider, name, value)
    with pytest.raises(Unavailable):
        await verify(build(provider), sign(build_claims(provider.url), KEY))
