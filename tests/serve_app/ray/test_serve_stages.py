"""A deployment for each stage, on a real Ray: the same answers as from one replica.

Questions carry an API key, which Ray's proxy lets pass and the ingress looks up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from nl2sql.types import Entitlement, Principal, UsageLimits
from retrieval.index_store.audit_store import AuditEntry, AuditStore
from retrieval.index_store.credentials import ApiKeyStore
from serve_app.composition.wiring import Wiring
from serve_app.settings.identity import IdentitySettings
from serve_app.settings.service import AuditSettings, PageSettings
from tests.serve_app.ray.ray_service import serving

pytestmark = pytest.mark.timeout(600)
COUNT = "SELECT count(*) AS n FROM employees"
NO_LIMITS = UsageLimits()
LIMITS = UsageLimits(requests_per_minute=5, tokens_per_day=10**9)


@pytest.fixture(scope="module")
def url(wiring: Wiring) -> Iterator[str]:
    changed = {
        "identity": IdentitySettings(api_keys=True),
        "audit": AuditSettings(enabled=True),
        "page": PageSettings(operate_roles=("operator",)),
    }
    settings = wiring.settings.model_copy(update=changed)
    with serving(replace(wiring, settings=settings), fuse_cpu_stages=False) as where:
        yield where


def make_key(
    wiring: Wiring, name: str, limits: UsageLimits = NO_LIMITS, *roles: str
) -> tuple[str, str]:
    """The id of a record, and its key."""

    async def make() -> tuple[str, str]:
        store = wiring.build_index_store()
        principal = Principal(name, roles, access=Entitlement(limits=limits))
        record, key = await ApiKeyStore(store).create(principal, valid_days=1)
        await store.close()
        return record.id, key

    return asyncio.run(make())


def revoke(wiring: Wiring, key_id: str) -> None:
    async def end() -> None:
        store = wiring.build_index_store()
        await ApiKeyStore(store).revoke(key_id)
        await store.close()

    asyncio.run(end())


async def read_audit(wiring: Wiring, key_id: str) -> list[AuditEntry]:
    """What is recorded of requests with the key."""
    store = wiring.build_index_store()
    entries = await AuditStore(store).read(most=1000)
    await store.close()
    return [entry for entry in entries if entry.key == key_id]


def ask(url: str, key: str, question: str, **options: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    body = {"question": question, **options}
    return httpx.post(f"{url}/query", json=body, headers=headers, timeout=60)


def test_each_stage_in_a_deployment_of_its_own_answers_the_same(url: str, wiring: Wiring) -> None:
    key_id, key = make_key(wiring, "stages")
    answer = ask(url, key, COUNT, k=2, trace=True).json()
    refused = ask(url, key, "SELECT pg_sleep(1) FROM employees", trace=True).json()
    # Too long to be known to fit: its tokens are counted by the engine, over its handle.
    counted = ask(url, key, "SELECT 1 AS one", evidence="word " * 799, trace=True).json()
    unknown = ask(url, key, "How many orders?", database="nowhere")
    assert answer["outcome"] == "answered"
    assert answer["trace"]["principal"] == "stages"
    assert answer["trace"]["candidates"][0]["votes"] == 2
    assert refused["trace"]["candidates"][0]["violation"]["code"] == "function_not_allowed"
    assert counted["trace"]["candidates"][0]["guard"] == "passed"
    assert counted["trace"]["left_out"] == []
    assert unknown.status_code == 404
    entries = asyncio.run(read_audit(wiring, key_id))
    assert [(entry.key, entry.outcome, entry.row_count) for entry in entries] == [
        (key_id, "answered", 1),
        (key_id, "failed", None),
        (key_id, "answered", 1),
        (key_id, "invalid", None),
    ]
    assert entries[0].sql == answer["trace"]["candidates"][0]["guarded_sql"]
    assert list(entries[0].tables) == ["hr.employees"]


def test_keys_and_limits_hold_behind_rays_proxy(url: str, wiring: Wiring) -> None:
    key_id, key = make_key(wiring, "limited", LIMITS)
    statuses = [ask(url, key, "SELECT 1 AS one").status_code for _ in range(7)]
    assert statuses == [200] * 5 + [429] * 2
    refused = ask(url, key, "SELECT 1 AS one")
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert httpx.get(f"{url}/readyz").json() == {"ready": True}
    revoke(wiring, key_id)
    for wrong in (key, "", "qsql_" + "a" * 43, "other"):
        assert ask(url, wrong, "SELECT 1 AS one").status_code == 401


def test_the_routes_of_the_page_reach_the_stages(url: str, wiring: Wiring) -> None:
    _, key = make_key(wiring, "olga", NO_LIMITS, "operator")
    with httpx.Client(
        base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60
    ) as client:

        def get(path: str, **parameters: Any) -> Any:
            response = client.get(path, params=parameters)
            assert response.status_code == 200, response.text
            return response.json()

        names = {each["name"] for each in get("/databases")["databases"]}
        assert names == {"demo_erp", "second"}
        page = get("/databases/demo_erp/tables", search="employees", limit=1)
        assert page["tables"][0]["table"] == "hr.employees"
        assert get("/databases/demo_erp/tables", search="employees", after=page["next"])["tables"]
        wrong = client.get("/databases/demo_erp/tables", params={"after": "x"})
        assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "after")
        table = get("/databases/demo_erp/tables/hr.employees")
        assert any(column["values"] for column in table["columns"])
        assert client.get("/databases/demo_erp/tables/invented").status_code == 404
        assert get("/databases/demo_erp/definitions")["measures"] == []
        assert get("/databases/demo_erp/suggestions")["questions"]
        assert client.post("/run", json={"sql": COUNT}).json()["rows"]
        client.post("/query", json={"question": COUNT, "k": 1, "session": "page"})
        assert get("/conversations/page")["turns"][0]["question"] == COUNT
        assert client.delete("/conversations").json()["conversations"] == 1
