"""Who asks over HTTP: a bearer token where principals have one."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from nl2sql.types import Principal
from tests.fakes import (
    FakeGenerator,
    FakeGuard,
    build_candidate,
    build_generated,
    build_result,
    build_settings,
)
from tests.serve_app.served import build_app, connect

ANN = {"roles": ["clerk"], "attributes": {"country": "DE"}, "token_env": "ANN_TOKEN"}


async def ask(identity: dict[str, Any], headers: dict[str, str]) -> tuple[httpx.Response, Any]:
    guard = FakeGuard()
    app = build_app(
        build_settings(identity=identity),
        generator=FakeGenerator(build_generated(build_candidate(sql="SELECT 1"))),
        guard=guard,
        results={"SELECT 1": [build_result((1,))]},
    )
    async with connect(app) as client:
        body = {"question": "How many?", "trace": True}
        return await client.post("/query", json=body, headers=headers), guard


@pytest.mark.parametrize(
    "headers",
    [
        {},
        *(
            {"Authorization": value}
            for value in ("", "Bearer wrong", "Basic s3cret", "s3cret", "Bearer")
        ),
    ],
    ids=["none", "empty", "unknown", "basic", "no_scheme", "no_token"],
)
async def test_who_has_no_token_is_not_answered(
    headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    response, guard = await ask({"principals": {"ann": ANN}}, headers)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.headers["content-type"] == "application/problem+json"
    assert "Authorization: Bearer" in response.json()["detail"]
    assert guard.guarded == []


async def test_a_token_says_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    response, guard = await ask({"principals": {"ann": ANN}}, {"Authorization": "bearer s3cret"})
    assert response.status_code == 200
    assert [who for *_, who in guard.guarded] == [
        Principal("ann", ("clerk",), (("country", "DE"),))
    ]
    assert response.json()["trace"]["principal"] == "ann"
    assert "s3cret" not in response.text


async def test_a_token_that_is_not_set_lets_nobody_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANN_TOKEN", raising=False)
    response, _ = await ask({"principals": {"ann": ANN}}, {"Authorization": "Bearer "})
    assert response.status_code == 401
