"""``quorumsql mcp`` as MCP clients start it: a process that speaks over its streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client, StdioServerParameters
from mcp.client.client import ConnectMode
from mcp.client.stdio import stdio_client

from tests.conftest import ROOT
from tests.serve_app.mcp.clients import MODES, call, fail

# A server like that of the command, over fakes. It prints, as libraries do.
OVER_FAKES = """
import asyncio
from serve_app.mcp.stdio import serve_stdio
from tests.fakes import build_result, build_settings
from tests.serve_app.served import OneQueryGenerator, build_services

async def open_services(stack):
    print("loading")
    results = {"SELECT 1": [build_result((1,))] * 9}
    return build_services(settings, generator=OneQueryGenerator(), results=results)

settings = build_settings()
asyncio.run(serve_stdio(open_services, settings.identity.principal()))
"""
COMMAND = (sys.executable, "-m", "serve_app.cli")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Settings whose index does not answer."""
    shop: dict[str, Any] = {"reader": {"url": f"sqlite:///{tmp_path}/shop.sqlite"}}
    file = tmp_path / "quorumsql.yaml"
    index = {"connection": {"url": "postgresql://nobody@127.0.0.1:9/nothing"}}
    file.write_text(
        yaml.safe_dump({"home": str(tmp_path), "databases": {"shop": shop}, "index": index})
    )
    return file


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_is_answered_though_the_service_cannot_start(
    config: Path, tmp_path: Path, mode: ConnectMode
) -> None:
    parameters = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "--config", str(config), "mcp"], env=ENVIRONMENT
    )
    with (tmp_path / "errors").open("w") as errors:
        async with Client(stdio_client(parameters, errlog=errors), mode=mode) as client:
            assert len((await client.list_tools()).tools) == 6
            message = await fail(client, "ask", question="How many?")
            assert message == await fail(client, "list_databases")
    assert "shop" in message or "index" in message


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_uses_all_that_is_offered(tmp_path: Path, mode: ConnectMode) -> None:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-c", OVER_FAKES], env=ENVIRONMENT
    )
    with (tmp_path / "errors").open("w") as errors:
        async with Client(stdio_client(parameters, errlog=errors), mode=mode) as client:
            assert (await call(client, "ask", question="One?"))["rows"] == [[1]]
            assert (await call(client, "translate", question="One?"))["sql"] == "SELECT 1"
            assert (await call(client, "run_sql", sql="SELECT 1"))["rows"] == [[1]]
            assert (await call(client, "list_databases"))["databases"][0]["name"] == "shop"
            assert (await call(client, "describe_tables"))["tables"]
            assert (await call(client, "search_schema", text="orders"))["tables"]
    assert "loading" in (tmp_path / "errors").read_text()


def test_a_line_that_is_no_message_gets_its_error() -> None:
    ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
    lines = ("no JSON", '{"jsonrpc": "2.0", "id": 1}', "[]", "", json.dumps(ping))
    with subprocess.Popen(
        [sys.executable, "-c", OVER_FAKES],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(f"{line}\n" for line in lines))
        server.stdin.flush()
        # The end of the input ends the server, also before its last reply.
        replies = [json.loads(server.stdout.readline()) for _ in lines]
        server.stdin.close()
    errors = [(reply["id"], reply["error"]["code"]) for reply in replies if reply["id"] is None]
    assert errors == [(None, -32700), (None, -32600), (None, -32600), (None, -32700)]
    # It goes on.
    assert 7 in [reply["id"] for reply in replies]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--config", "nowhere.yaml", "mcp"], "nowhere.yaml"),
        (["--config", "quorumsql.yaml", "mcp", "--as", "stranger"], "stranger"),
    ],
)
def test_wrong_settings_are_reported_on_standard_error(
    config: Path, arguments: list[str], error: str
) -> None:
    ended = subprocess.run(
        [*COMMAND, *arguments], cwd=config.parent, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert error in ended.stderr
