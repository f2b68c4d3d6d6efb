"""A deployment for each stage, on a real Ray: the same answers as from one replica."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp import Client
from mcp.client.client import ConnectMode

from serve_app.composition.wiring import Wiring
from tests.serve_app.mcp.clients import MODES, call
from tests.serve_app.ray.ray_service import serving
from tests.serve_app.ray.test_serve_real import post

COUNT = "SELECT count(*) AS n FROM employees"


@pytest.mark.timeout(600)
def test_each_stage_in_a_deployment_of_its_own_answers_the_same(wiring: Wiring) -> None:
    with serving(wiring, fuse_cpu_stages=False) as url:
        answer = post(url, COUNT, k=2, trace=True).json()
        refused = post(url, "SELECT pg_sleep(1) FROM employees", trace=True).json()
        # Too long to be known to fit: its tokens are counted by the engine, over its handle.
        counted = post(url, "SELECT 1 AS one", evidence="word " * 799, trace=True).json()
        unknown = post(url, "How many orders?", database="nowhere")
        over_mcp = [asyncio.run(ask_over_mcp(url, mode)) for mode in MODES]
    assert answer["outcome"] == "answered"
    assert answer["trace"]["candidates"][0]["votes"] == 2
    assert refused["trace"]["candidates"][0]["violation"]["code"] == "function_not_allowed"
    assert counted["trace"]["candidates"][0]["guard"] == "passed"
    assert counted["trace"]["left_out"] == []
    assert unknown.status_code == 404
    for asked, ran, table, models in over_mcp:
        assert asked["rows"] == ran["rows"] == answer["rows"]
        assert table["tables"][0]["primary_key"] == ["employee_id"]
        assert [found["name"] for found in models["databases"]] == ["demo_erp", "second"]


async def ask_over_mcp(url: str, mode: ConnectMode) -> list[dict[str, Any]]:
    """A question, a query, a table and the databases."""
    async with Client(f"{url}/mcp", mode=mode) as client:
        return [
            await call(client, "ask", question=COUNT),
            await call(client, "run_sql", sql=COUNT),
            await call(client, "describe_tables", tables=["employees"]),
            await call(client, "list_databases"),
        ]
