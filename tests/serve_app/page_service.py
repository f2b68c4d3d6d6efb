"""The whole service over the demo with its policy, and what the page asks it.

Everything is real but the model, which answers a question with the question itself, and the server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

from retrieval.index_store.audit_store import AuditEntry, AuditStore
from retrieval.index_store.store import IndexStore
from serve_app.composition.services import build_services
from serve_app.composition.stages import CpuStages
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_http_app
from serve_app.settings import Settings
from serve_app.settings.service import AuditSettings, PageSettings
from tests.conftest import ROOT
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.interfaces import build_token, sign_in
from tests.serve_app.served import connect
from tests.serve_app.test_policy_pipeline import POLICY

MEMBER = ["department_member"]
PRINCIPALS: dict[str, dict[str, Any]] = {
    "mia": {"roles": MEMBER, "attributes": {"department_id": 31}},
    # Sees the same as mia, by the same rights.
    "max": {"roles": MEMBER, "attributes": {"department_id": 31}},
    "noa": {"roles": MEMBER, "attributes": {"department_id": 7}},
    "ravi": {"roles": ["regional_manager", "reviewer"], "attributes": {"region_ids": [1, 2]}},
    # Sees the same as mia, and is not mia.
    "cleo": {"roles": [*MEMBER, "clerk"], "attributes": {"department_id": 31}},
    "eve": {"roles": ["nobody"]},
    "ada": {"roles": ["analyst"]},
    # May ask the other database only.
    "zoe": {"roles": ["analyst"], "databases": ["second"]},
}
IDENTITY = ("local", "principals", "limits", "api_keys", "jwt", "login")
PAGE = PageSettings(
    review_roles=("analyst", "reviewer"),
    operate_roles=("analyst",),
)

Listed = list[dict[str, Any]]


@dataclass(frozen=True)
class PageService:
    """The service, its index and its audit log."""

    app: ASGIApp
    store: IndexStore

    async def send(self, name: str, method: str, path: str, **options: Any) -> httpx.Response:
        """The response to a principal's request; without a name it carries no token."""
        token = {"Authorization": f"Bearer {build_token(name)}"} if name else {}
        headers = {**token, **options.pop("headers", {})}
        async with connect(self.app) as client:
            return await client.request(method, path, headers=headers, **options)

    async def get(self, name: str, path: str, **parameters: Any) -> dict[str, Any]:
        """The body of a response with status 200."""
        response = await self.send(name, "GET", path, params=parameters)
        assert response.status_code == 200, response.text
        body: dict[str, Any] = response.json()
        return body

    async def list_all(self, name: str, path: str, key: str, **parameters: Any) -> Listed:
        """What all pages at ``path`` hold under ``key``."""
        found: Listed = []
        after: str | None = ""
        while after is not None:
            page = await self.get(name, path, **{"after": after, "limit": 2, **parameters})
            found += page[key]
            after = page["next"]
        return found

    async def run(self, name: str, sql: str, **body: Any) -> httpx.Response:
        """The response to ``POST /run``."""
        sent = {"sql": sql, **body} if sql else body
        return await self.send(name, "POST", "/run", json=sent)

    async def ask(self, name: str, question: str, **body: Any) -> dict[str, Any]:
        """The answer to a question."""
        sent = {"question": question, "k": 1, **body}
        response = await self.send(name, "POST", "/query", json=sent)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    async def empty(self) -> None:
        """Deletes what is stored for the page."""
        tables = "audit_log conversations feedback examples sign_ins usage question_leases"
        async with self.store.connection() as connection:
            for table in tables.split():
                await connection.execute(f"DELETE FROM quorumsql.{table}".encode())

    async def read_audit(self) -> list[AuditEntry]:
        """The entries of the audit log."""
        return await AuditStore(self.store).read(most=1000)


def configure(wiring: Wiring, patch: pytest.MonkeyPatch, **sections: Any) -> Wiring:
    """The demo with its policy, its definitions and the principals above.

    Those in ``IDENTITY`` are keys of ``identity``; other ``sections`` are whole ones.
    """
    identity: dict[str, Any] = {name: sections.pop(name) for name in IDENTITY if name in sections}
    definitions = ROOT / "data" / "demo_erp" / "semantics.yaml"
    own = {"policy": POLICY, "semantics": definitions, "description": "A made-up company."}
    databases = wiring.settings.databases
    settings = wiring.settings.model_copy(
        update={
            "databases": {**databases, "demo_erp": databases["demo_erp"].model_copy(update=own)},
            "audit": AuditSettings(enabled=True),
            "repair": wiring.settings.repair.model_copy(update={"derived": 0}),
            "page": PAGE,
            **sections,
        }
    )
    signed: Settings = sign_in(settings, PRINCIPALS, patch)
    if identity:
        value: dict[str, Any] = {**signed.identity.model_dump(exclude_unset=True), **identity}
        changed = type(signed.identity).model_validate(value)
        signed = signed.model_copy(update={"identity": changed})
    return Wiring(signed, wiring.socket_folder)


@asynccontextmanager
async def open_page_service(
    wiring: Wiring,
    patch: pytest.MonkeyPatch,
    engine: EchoEngine | None = None,
    **sections: Any,
) -> AsyncIterator[PageService]:
    """The service under these settings; what it stores for the page is deleted before and after."""
    engine = engine or EchoEngine()
    configured = configure(wiring, patch, **sections)
    store = configured.build_index_store()
    executor = configured.build_executor()
    stages = CpuStages.build_here(configured, engine, store, executor)
    services = build_services(configured, engine, stages, store, prepares_prompts=False)
    opened = PageService(build_http_app(services), store)
    # Other tests leave feedback and sessions behind.
    await opened.empty()
    yield opened
    await opened.empty()
    await executor.close()
    await store.close()
