"""Kept answers over HTTP: everything is real but the model, which answers with the question."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from starlette.types import ASGIApp

from execution.postgres.embedded import EmbeddedServer
from nl2sql.settings.audit import AuditSettings
from nl2sql.settings.serve import ServeSettings
from retrieval.catalogs import IndexedCatalogs
from serve_app.composition.access import build_access
from serve_app.composition.services import build_answer_cache, build_services
from serve_app.composition.stages import CpuStages, GuardedExecutor
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_http_app
from tests.oracle.postgres_copies import open_superuser
from tests.serve_app.http.test_event_stream import read_events
from tests.serve_app.http.test_principals import PRINCIPALS, RecordingEngine
from tests.serve_app.interfaces import build_token, sign_in
from tests.serve_app.served import connect
from tests.serve_app.test_policy_pipeline import POLICY

NAMES = "SELECT employee_id, last_name FROM employees ORDER BY employee_id DESC LIMIT 3"
FORBIDDEN = "SELECT net_amt FROM payslips ORDER BY 1 LIMIT 3"
CHANGE = "UPDATE hr.employees SET last_name = last_name || $1 WHERE employee_id = $2"


@dataclass(frozen=True)
class Service:
    """The service, its model and its audit log."""

    app: ASGIApp
    engine: RecordingEngine
    audit: Path

    async def send(self, name: str, body: dict[str, Any], **headers: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {build_token(name)}", **headers}
        async with connect(self.app) as client:
            return await client.post("/query", json={"k": 1, **body}, headers=headers)

    async def ask(self, name: str = "ada", question: str = NAMES, **headers: str) -> dict[str, Any]:
        """The answer, with its trace."""
        response = await self.send(name, {"question": question, "trace": True}, **headers)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    @property
    def sampled(self) -> int:
        """How often the model was asked."""
        return len(self.engine.prompts)


def configure(wiring: Wiring, patch: pytest.MonkeyPatch, audit: Path) -> Wiring:
    database = wiring.settings.databases["demo_erp"].model_copy(update={"policy": POLICY})
    settings = wiring.settings.model_copy(
        update={
            "databases": {"demo_erp": database},
            "audit": AuditSettings(file=audit),
            "repair": wiring.settings.repair.model_copy(update={"derived": 0}),
            "serve": wiring.settings.serve.model_copy(update={"answer_cache_mib": 8}),
        }
    )
    return Wiring(sign_in(settings, PRINCIPALS, patch), wiring.socket_folder)


@pytest.fixture
async def service(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[Service]:
    audit = tmp_path / "audit.jsonl"
    configured, engine = configure(wiring, monkeypatch, audit), RecordingEngine()
    store = configured.build_index_store()
    executor = GuardedExecutor(configured, IndexedCatalogs(store))
    stages = CpuStages.build_here(configured, engine, store, executor)
    access = build_access(configured.settings, store)
    services = build_services(configured, engine, stages, access, prepares_prompts=False)
    yield Service(build_http_app(configured.settings, services.queries), engine, audit)
    await executor.close()
    await store.close()


@pytest.fixture
def admin(embedded_server: EmbeddedServer) -> Iterator[psycopg.Connection]:
    with open_superuser(embedded_server, "demo_erp") as connection:
        connection.cursor_factory = psycopg.RawCursor
        yield connection


async def ask_until_kept(service: Service, **options: str) -> dict[str, Any]:
    """An answer from the cache; the server's own work may be a change meanwhile."""
    for _ in range(10):
        answer = await service.ask(**options)
        if answer["cached_at"] is not None:
            return answer
    raise AssertionError("No answer is kept.")


async def test_the_same_question_is_answered_from_the_cache(service: Service) -> None:
    first = await service.ask()
    kept = await ask_until_kept(service)
    assert first["cached_at"] is None
    assert first["trace"]["stages"]
    assert kept["trace"]["stages"] == []
    changing = ("cached_at", "trace")
    assert {name: kept[name] for name in kept if name not in changing} == {
        name: first[name] for name in first if name not in changing
    }
    sampled = service.sampled
    again = await ask_until_kept(service)
    assert again["cached_at"] >= kept["cached_at"]
    assert service.sampled <= sampled + 1


async def test_it_is_recorded_that_nothing_ran(service: Service) -> None:
    await service.ask()
    await ask_until_kept(service)
    lines = [json.loads(line) for line in service.audit.read_text(encoding="utf-8").splitlines()]
    ran, kept = lines[0], lines[-1]
    assert (ran["code"], ran["executed"]) == ("", [ran["sql"]])
    assert (kept["code"], kept["executed"]) == ("cached", [])
    for name in ("outcome", "sql", "tables", "predicates", "row_count", "question"):
        assert kept[name] == ran[name]


async def test_the_client_may_want_a_new_answer(service: Service) -> None:
    kept = await ask_until_kept(service)
    sampled = service.sampled
    anew = await service.ask(**{"Cache-Control": "max-age=0, No-Cache"})
    assert anew["cached_at"] is None
    assert service.sampled == sampled + 1
    assert (await ask_until_kept(service))["cached_at"] > kept["cached_at"]


async def test_an_export_says_so_too(service: Service) -> None:
    for _ in range(10):
        response = await service.send("ada", {"question": NAMES}, accept="text/csv")
        if "quorumsql-cached-at" in response.headers:
            break
    assert "quorumsql-cached-at" in response.headers
    assert len(response.text.splitlines()) == 4


async def test_a_stream_has_the_rows_and_the_answer(service: Service) -> None:
    for _ in range(10):
        response = await service.send("ada", {"question": NAMES}, accept="text/event-stream")
        kinds, contents = zip(*read_events(response.text), strict=True)
        if contents[-1]["cached_at"]:
            break
    assert kinds == ("rows", "answer")
    assert contents[0]["rows"] == contents[1]["rows"]


async def test_what_is_written_is_seen_at_once(service: Service, admin: psycopg.Connection) -> None:
    before = await ask_until_kept(service)
    number, name = before["rows"][0]
    try:
        admin.execute(CHANGE, ["x", number])
        after = await service.ask()
    finally:
        admin.execute(
            "UPDATE hr.employees SET last_name = $1 WHERE employee_id = $2", [name, number]
        )
    assert after["cached_at"] is None
    assert after["rows"][0] == [number, f"{name}x"]
    assert (await service.ask())["rows"] == before["rows"]


async def test_a_principal_gets_only_its_own_answers(service: Service) -> None:
    rows = {name: (await service.ask(name))["rows"] for name in ("ada", "mia", "noa")}
    assert len({json.dumps(found) for found in rows.values()}) == 3
    for name, found in rows.items():
        kept = await ask_until_kept(service, name=name)
        assert kept["rows"] == found
        assert kept["trace"]["principal"] == name
    # With the same rights, another principal has no part in them either.
    sampled = service.sampled
    other = await service.ask("max")
    assert (other["cached_at"], other["rows"]) == (None, rows["mia"])
    assert service.sampled == sampled + 1


async def test_without_a_token_nothing_is_reached(service: Service) -> None:
    await ask_until_kept(service)
    async with connect(service.app) as client:
        headers = {"Authorization": "Bearer revoked"}
        response = await client.post("/query", json={"question": NAMES, "k": 1}, headers=headers)
    assert response.status_code == 401


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("ada", "SELECT count(*), now() AS at FROM employees"),
        ("ada", "SELECT count(*) FROM employees WHERE hire_dt < CURRENT_DATE"),
        ("ada", "SELECT count(*) FROM employees WHERE hire_dt < 'today'"),
        ("mia", FORBIDDEN),
        ("eve", NAMES),
    ],
)
async def test_what_the_clock_changes_and_what_is_no_answer_is_not_kept(
    service: Service, name: str, question: str
) -> None:
    for _ in range(4):
        answer = await service.ask(name, question)
        assert answer.get("cached_at") is None
    assert (answer["outcome"] == "answered") == (name == "ada")


def test_by_default_there_is_no_cache() -> None:
    stages = CpuStages(*[None] * 5)  # type: ignore[arg-type]
    assert build_answer_cache(ServeSettings(), stages) is None
    assert build_answer_cache(ServeSettings(answer_cache_mib=1), stages) is not None
