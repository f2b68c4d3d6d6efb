"""A client without a token finds the identity provider through the service, and logs in there."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken, ProtectedResourceMetadata
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from execution.guard.guard import SqlGuard
from serve_app.service.accounting import Accounting
from serve_app.service.identity.identifier import Identifier
from serve_app.service.identity.jwt_verifier import JwtVerifier
from serve_app.settings import Settings
from tests.fakes import SHOP, FakeCatalogs, build_settings
from tests.retrieval.directories import build_directory
from tests.serve_app.identity_provider import (
    AUDIENCE,
    build_claims,
    build_rsa_key,
    describe_key,
    serve_provider,
    sign,
)
from tests.serve_app.mcp.clients import call
from tests.serve_app.mcp.test_endpoint import post
from tests.serve_app.served import build_app, connect, serve

ISSUER = "https://login.example.com/realms/acme"
ROOT = "/.well-known/oauth-protected-resource"
KEY = build_rsa_key()


def build_jwt_settings(issuer: str = ISSUER, **sections: Any) -> Settings:
    jwt = {"issuer": issuer, "audience": AUDIENCE}
    return build_settings(identity={"jwt": jwt}, **sections)


def build(settings: Settings) -> Any:
    verifier = JwtVerifier(settings.identity.jwt)
    identifier = Identifier(settings.identity, verifier=verifier)
    access = (identifier, None, Accounting())
    schemas = build_directory(SqlGuard(FakeCatalogs(SHOP)))
    return build_app(settings, schemas=schemas, access=access)


@pytest.mark.parametrize(("path", "resource"), [(ROOT, ""), (f"{ROOT}/mcp", "/mcp")])
async def test_the_metadata_names_the_issuer(path: str, resource: str) -> None:
    async with connect(build(build_jwt_settings())) as client:
        response = await client.get(path)
        assert (await client.head(path)).status_code == 200
    found = ProtectedResourceMetadata.model_validate_json(response.content)
    assert str(found.resource) == f"http://localhost{resource}"
    assert [str(server) for server in found.authorization_servers] == [ISSUER]
    assert found.bearer_methods_supported == ["header"]


@pytest.mark.parametrize(
    ("headers", "error"),
    [({}, ""), ({"authorization": "Basic x"}, 'error="invalid_token", ')],
)
async def test_a_401_names_the_address_of_the_metadata(headers: dict[str, str], error: str) -> None:
    response = await post(build(build_jwt_settings()), headers)
    assert response.status_code == 401
    address = f"http://localhost{ROOT}/mcp"
    assert response.headers["www-authenticate"] == f'Bearer {error}resource_metadata="{address}"'


async def test_the_public_address_comes_before_that_of_the_request() -> None:
    settings = build_jwt_settings(
        serve={"public_url": "https://sql.example.com", "allowed_origins": ["https://app.example"]}
    )
    async with connect(build(settings)) as client:
        found = (await client.get(f"{ROOT}/mcp")).json()
    assert found["resource"] == "https://sql.example.com/mcp"
    headers = (await post(build(settings), {"origin": "https://app.example"})).headers
    assert f'"https://sql.example.com{ROOT}/mcp"' in headers["www-authenticate"]
    # A page of an allowed origin may read the address.
    assert headers["access-control-allow-origin"] == "https://app.example"
    assert "WWW-Authenticate" in headers["access-control-expose-headers"]


async def test_only_what_a_client_needs_is_told_without_a_token(tmp_path: Path) -> None:
    async with connect(build(build_jwt_settings())) as client:
        assert (await client.post(ROOT)).status_code == 401
        assert (await client.get(f"{ROOT}/query")).status_code == 401
        assert (await client.get("/v1/models")).headers["www-authenticate"] == "Bearer"
        for host in ("evil.example", 'localhost"'):
            assert (await client.get(ROOT, headers={"host": host})).status_code == 421
    # An issuer that is no address is not named.
    jwt = {"issuer": "acme", "audience": AUDIENCE, "jwks": str(tmp_path / "keys.json")}
    app = build(build_settings(identity={"jwt": jwt}))
    async with connect(app) as client:
        assert (await client.get(ROOT)).status_code == 401
    assert (await post(app, {})).headers["www-authenticate"] == "Bearer"


class Memory:
    """Keeps the tokens of a client, whom the provider knows already."""

    tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        raise AssertionError(client_info)


async def test_the_official_client_logs_in_at_the_issuer() -> None:
    """It knows the address of the service alone, and its own name and secret."""

    async def issue(request: Request) -> Response:
        form = await request.form()
        password = base64.b64encode(b"agent:secret").decode()
        assert request.headers["authorization"] == f"Basic {password}"
        assert form["grant_type"] == "client_credentials"
        # RFC 8707: the token is asked for the address that the metadata names.
        assert str(form["resource"]).endswith("/mcp")
        token = sign(build_claims(provider.url), KEY)
        return JSONResponse({"access_token": token, "token_type": "Bearer", "expires_in": 600})

    with (
        serve_provider() as provider,
        serve(Starlette(routes=[Route("/token", issue, methods=["POST"])])) as tokens,
        serve(build(build_jwt_settings(provider.url))) as url,
    ):
        provider.keys = [describe_key(KEY, "1")]
        methods = ["client_secret_basic"]
        provider.metadata = {
            "token_endpoint": f"{tokens}/token",
            "token_endpoint_auth_methods_supported": methods,
            "response_types_supported": ["code"],
        }
        login = ClientCredentialsOAuthProvider(
            f"{url}/mcp",
            Memory(),
            client_id="agent",
            client_secret="secret",
            issuer=provider.url,
        )
        async with (
            httpx2.AsyncClient(auth=login, timeout=60) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            found = await call(client, "list_databases")
    assert found["databases"][0]["name"] == "shop"
