"""Limits of a principal hold over two instances of the service, however many clients it has."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from nl2sql.types import Entitlement, Principal, UsageLimits
from retrieval.index_store.credentials import ApiKeyStore
from retrieval.index_store.store import IndexStore
from retrieval.index_store.usage_store import UsageStore
from serve_app.settings import Settings
from tests.fakes import build_settings
from tests.retrieval.index_store.conftest import execute
from tests.serve_app.replicas import SlowGenerator, run_replicas
from tests.waiting import wait_for

CLIENTS = 50


@pytest.fixture(autouse=True)
def tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ann", "bob"):
        monkeypatch.setenv(f"{name.upper()}_TOKEN", f"token-of-{name}")


def build(limits: dict[str, int], of_bob: dict[str, int] | None = None) -> Settings:
    principals: dict[str, Any] = {
        name: {"token_env": f"{name.upper()}_TOKEN"} for name in ("ann", "bob")
    }
    principals["bob"]["limits"] = of_bob or {}
    identity = {"principals": principals, "limits": limits, "api_keys": True}
    return build_settings(identity=identity, serve={"max_slowdown": 1000})


async def test_requests_a_minute(store: IndexStore, index_url: str) -> None:
    settings = build({"requests_per_minute": 20}, {"requests_per_minute": 3})
    # Their minute ends in an hour, so that it does not end while a slow machine asks.
    execute(
        index_url,
        "INSERT INTO quorumsql.usage (principal, minute_began)"
        " SELECT unnest(ARRAY['ann', 'bob']), now() + interval '59 minutes'",
    )
    async with run_replicas(settings, index_url) as replicas:
        responses = await asyncio.gather(*(replicas.ask("token-of-ann") for _ in range(CLIENTS)))
        assert Counter(response.status_code for response in responses) == {200: 20, 429: 30}
        refused = next(response for response in responses if response.status_code == 429)
        assert refused.headers["content-type"] == "application/problem+json"
        assert 60 < int(refused.headers["retry-after"]) <= 3600
        assert "ann may send 20 requests in a minute" in refused.json()["detail"]
        # Before its body is read; probes are free.
        for path in ("/query", "/no/such/path"):
            response = await replicas.send("token-of-ann", "POST", path, content=b"x" * 70_000)
            assert response.status_code == 429
        response = await replicas.send("token-of-ann", "GET", "/healthz")
        assert response.status_code == 200
        # Own limits replace those of all.
        bob = [(await replicas.ask("token-of-bob")).status_code for _ in range(4)]
        assert bob == [200, 200, 200, 429]


async def test_a_second_key_has_no_new_quota(store: IndexStore, index_url: str) -> None:
    keys = ApiKeyStore(store)
    access = Entitlement(limits=UsageLimits(requests_per_minute=3, tokens_per_day=220))
    eve = Principal("eve", access=access)
    _, first = await keys.create(eve, valid_days=None)
    async with run_replicas(build({}), index_url) as replicas:
        for _ in range(2):
            assert (await replicas.ask(first)).status_code == 200
        _, second = await keys.create(eve, valid_days=None)
        refused = await replicas.ask(second)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 86_400
        assert (await replicas.ask(first)).status_code == 429


async def test_rows_a_day(store: IndexStore, index_url: str) -> None:
    settings = build({"rows_per_day": 25})
    async with run_replicas(settings, index_url, rows=10) as replicas:
        responses = [await replicas.ask("token-of-ann", max_rows=10) for _ in range(2)]
        assert [response.status_code for response in responses] == [200, 200]
        many = await asyncio.gather(
            *(replicas.ask("token-of-ann", max_rows=10) for _ in range(CLIENTS))
        )
        # Five rows are left. The fake database gives ten, where a real one would stop at five.
        assert Counter(response.status_code for response in many) == {200: 1, 429: 49}
        assert "25 rows" in (await replicas.ask("token-of-ann")).json()["detail"]


async def test_a_question_that_was_not_answered_returns_its_lease(
    store: IndexStore, index_url: str
) -> None:
    settings = build({"questions_at_once": 1, "tokens_per_day": 1_000_000})
    async with run_replicas(settings, index_url, seconds=30) as replicas:
        task = asyncio.create_task(replicas.ask("token-of-ann"))
        assert await asyncio.to_thread(wait_for, lambda: SlowGenerator.under_way > 0)
        assert (await replicas.ask("token-of-ann")).status_code == 429
        task.cancel()
        await asyncio.wait({task})
    async with run_replicas(settings, index_url) as replicas:
        # One prompt: what the model had done by then is not known.
        assert (await UsageStore(store).read("ann")).tokens == settings.model.max_model_len
        assert (await replicas.ask("token-of-ann")).status_code == 200


@pytest.mark.parametrize("limit", ["requests_per_minute", "questions_at_once", "rows_per_day"])
async def test_what_cannot_be_counted_is_refused(index_url: str, limit: str) -> None:
    # The index has not been set up.
    async with run_replicas(build({limit: 5}), index_url) as replicas:
        response = await replicas.ask("token-of-ann")
    assert response.status_code == 503
