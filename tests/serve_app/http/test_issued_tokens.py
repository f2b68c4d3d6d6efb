"""API keys and signed tokens over HTTP, at two instances of the service over one index."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from nl2sql.errors import Unauthenticated
from nl2sql.types import Entitlement, Principal
from retrieval.index_store.credentials import ApiKeyStore
from retrieval.index_store.store import IndexStore
from serve_app.http.app import build_routes
from serve_app.http.identification import ProxyIdentifier
from serve_app.http.middleware import add_middleware
from serve_app.service.query_service import QueryService
from serve_app.service.services import Services
from serve_app.settings import Settings
from tests.fakes import build_settings
from tests.serve_app.http.asgi import HOST, JSON, Exchange, build_scope
from tests.serve_app.identity_provider import (
    AUDIENCE,
    IdentityProvider,
    build_claims,
    build_rsa_key,
    describe_key,
    serve_provider,
    sign,
)
from tests.serve_app.replicas import Replicas, run_replicas
from tests.serve_app.served import NO_TOOLS, connect
from tests.serve_app.service.test_prompt_preparation import NoAnswerer

BOB = Principal("bob", ("clerk",))
SIGNING_KEY = build_rsa_key()


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with serve_provider() as running:
        running.keys = [describe_key(SIGNING_KEY, "1")]
        yield running


@pytest.fixture
def settings(provider: IdentityProvider) -> Settings:
    embedded = {"url": "embedded"}
    database = {"reader": embedded, "indexer": embedded}
    jwt = {"issuer": provider.url, "audience": AUDIENCE, "claims": {"databases": "dbs"}}
    return build_settings(
        databases={"shop": database, "erp": database},
        default_database="shop",
        identity={"api_keys": True, "jwt": jwt},
    )


@pytest.fixture
async def replicas(
    settings: Settings, store: IndexStore, index_url: str
) -> AsyncIterator[Replicas]:
    async with run_replicas(settings, index_url) as running:
        yield running


@pytest.fixture
def keys(store: IndexStore) -> ApiKeyStore:
    return ApiKeyStore(store)


async def test_a_token_is_answered_as_its_principal_until_it_ends(
    replicas: Replicas, keys: ApiKeyStore, provider: IdentityProvider
) -> None:
    record, key = await keys.create(BOB, valid_days=1)
    claims = build_claims(provider.url, dbs=["shop"])
    for token, name in ((key, "bob"), (sign(claims, SIGNING_KEY), "ann")):
        for _ in range(2):
            response = await replicas.ask(token, trace=True)
            assert response.json()["trace"]["principal"] == name
            assert token not in response.text
    await keys.revoke(record.id)
    forged = sign(claims, build_rsa_key())
    for ended in (key, forged, sign({**claims, "exp": 1}, SIGNING_KEY)):
        # Both replicas refuse it at once.
        responses = [await replicas.ask(ended) for _ in range(4)]
        assert [response.status_code for response in responses] == [401] * 4
        assert responses[0].headers["www-authenticate"] == "Bearer"
    assert "has expired" in responses[0].json()["detail"]


@pytest.mark.parametrize("kind", ["key", "token"])
async def test_a_database_that_is_not_allowed_is_unknown(
    replicas: Replicas, keys: ApiKeyStore, provider: IdentityProvider, kind: str
) -> None:
    if kind == "key":
        _, token = await keys.create(
            Principal("bob", access=Entitlement(databases=("erp",))), valid_days=None
        )
    else:
        token = sign(build_claims(provider.url, dbs=["erp"]), SIGNING_KEY)
    assert (await replicas.ask(token, database="erp")).status_code == 200
    # The only one that it may ask is the default.
    assert (await replicas.ask(token)).status_code == 200
    hidden = await replicas.ask(token, database="shop")
    missing = await replicas.ask(token, database="none")
    assert (hidden.status_code, missing.status_code) == (404, 404)
    assert hidden.text.replace("shop", "none") == missing.text
    ready = await replicas.send(token, "GET", "/readyz")
    assert ready.json() == {"ready": True}
    models = (await replicas.send(token, "GET", "/v1/models")).json()["data"]
    assert [model["id"] for model in models if model["id"] in ("erp", "shop")] == ["erp"]
    assert (await replicas.send(token, "GET", "/v1/models/shop")).status_code == 404
    chat = {"model": "shop", "messages": [{"role": "user", "content": "Q?"}]}
    for stream in (False, True):
        sent = {**chat, "stream": stream}
        response = await replicas.send(token, "POST", "/v1/chat/completions", json=sent)
        assert response.status_code == 404


async def test_the_proxy_refuses_only_what_the_replica_would_refuse_too(
    settings: Settings, replicas: Replicas, keys: ApiKeyStore
) -> None:
    """It has no index, so it lets every bearer token pass."""
    proxy = add_middleware(replicas.apps[0], settings)
    _, key = await keys.create(BOB, valid_days=None)

    async def send(*headers: tuple[bytes, bytes]) -> int:
        exchange = Exchange([b'{"question": "Q?"}'])
        scope = build_scope("POST", "/query", [HOST, JSON, *headers])
        return (await exchange.send_to(proxy, scope)).status

    assert await send((b"authorization", f"Bearer {key}".encode())) == 200
    refused: list[Any] = [b"", b"Bearer", b"Bearer ", b"Basic abc", b"Bearer other"]
    for value in refused:
        assert await send((b"authorization", value)) == 401
    assert await send() == 401


async def test_a_proxy_decides_what_it_can_and_leaves_the_rest_to_the_replica(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pods of the engine have no secret with the tokens, but their proxies are asked too."""
    identity = {"principals": {name: {"token_env": f"{name}_TOKEN"} for name in ("ann", "bob")}}
    settings = build_settings(identity=identity)
    proxy = ProxyIdentifier(settings.identity)
    monkeypatch.setenv("ann_TOKEN", "s3cret")
    assert await proxy.identify("Bearer s3cret") == Principal("ann")
    assert await proxy.identify("Bearer of bob") is None
    assert await proxy.identify("", "a cookie") is None
    monkeypatch.setenv("bob_TOKEN", "of bob")
    # Where there is a header it counts, and it is wrong.
    for authorization in ("Bearer", "Basic abc", "Bearer other"):
        with pytest.raises(Unauthenticated):
            await proxy.identify(authorization, "a cookie")
    assert await ProxyIdentifier(build_settings().identity).identify("", "x") == Principal("local")


async def test_routes_answer_nobody_whom_the_replica_did_not_identify(
    settings: Settings,
) -> None:
    """The checks of the proxy alone are not enough."""
    service = QueryService(settings, NoAnswerer(), {})
    app = add_middleware(
        build_routes(Services(settings, service, NO_TOOLS)),
        settings,
    )
    async with connect(app) as client:
        headers = {"Authorization": "Bearer anything"}
        response = await client.post("/query", json={"question": "Q?"}, headers=headers)
    assert response.status_code == 401
