"""The service on a real Ray, over HTTP, with a real PostgreSQL; only the model is a fake."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from ray import serve

from serve_app.composition.wiring import Wiring
from serve_app.operations.background import is_ready
from serve_app.ray.running import APPLICATION
from tests.serve_app.echo_engine import HANG
from tests.serve_app.half_open import HALF_SENT
from tests.serve_app.ray.ray_service import serving
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def url(wiring: Wiring) -> Iterator[str]:
    """Begun where a proxy is set, through which no replica calls another one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("no_grpc_proxy", raising=False)
        for name in ("http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            patch.setenv(name, "http://127.0.0.1:9")
        with serving(wiring, fuse_cpu_stages=True) as where:
            assert is_ready(where)
            patch.undo()
            yield where


def post(url: str, question: str, **options: Any) -> httpx.Response:
    return httpx.post(f"{url}/query", json={"question": question, **options}, timeout=60)


def test_answers_over_http_with_a_trace(url: str) -> None:
    response = post(url, "SELECT count(*) AS n FROM employees", k=2, trace=True)
    assert response.status_code == 200
    answer = response.json()
    assert answer["outcome"] == "answered"
    assert answer["columns"] == [{"name": "n", "type": "int8", "heading": "n"}]
    assert answer["trace"]["candidates"][0]["votes"] == 2
    assert {"retrieve", "generate", "assess", "vote"} <= {
        stage["stage"] for stage in answer["trace"]["stages"]
    }


async def test_a_client_that_leaves_cancels_its_request_in_the_engine(url: str) -> None:
    def count() -> tuple[int, int]:
        engine = serve.get_deployment_handle("engine", APPLICATION)
        counted: tuple[int, int] = engine.counts.remote().result()
        return counted

    waiting, cancelled = await asyncio.to_thread(count)
    async with httpx.AsyncClient(timeout=60) as client:
        body = {"question": f"How many {HANG} orders?", "k": 3}
        asking = asyncio.create_task(client.post(f"{url}/query", json=body))
        assert await asyncio.to_thread(wait_for, lambda: count()[0] == waiting + 1)
        asking.cancel()
        await asyncio.wait({asking})
    assert await asyncio.to_thread(wait_for, lambda: count()[1] == cancelled + 1)


@pytest.mark.long
async def test_whoever_sends_half_a_request_is_let_go(url: str) -> None:
    host, port = "127.0.0.1", int(url.rpartition(":")[2])

    async def read(sent: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(sent)
        async with asyncio.timeout(60):
            answer = await reader.read()
        writer.close()
        return answer

    answers = await asyncio.gather(*(read(sent) for sent in HALF_SENT.values()))
    found = dict(zip(HALF_SENT, answers, strict=True))
    assert found.pop("half a head") == b""
    assert all(answer.startswith(b"HTTP/1.1 408 ") for answer in found.values())


def test_rays_own_headers_and_foreign_hosts_through_the_proxy(url: str) -> None:
    headers = {
        b"serve_multiplexed_model_id": b"\xff",
        b"x-request-id": b"\xff",
        b"x-session-id": b"\xff",
        b"x-request-timeout-seconds": b"0.000001",
    }
    assert httpx.get(f"{url}/healthz", headers=headers, timeout=30).status_code == 200
    for path, status in (("/docs", 421), ("/-/routes", 421), ("/healthz", 200)):
        answer = httpx.get(url + path, headers={"host": "evil.io"}, timeout=30)
        assert answer.status_code == status
        assert answer.headers.get_list("x-content-type-options") == ["nosniff"]
