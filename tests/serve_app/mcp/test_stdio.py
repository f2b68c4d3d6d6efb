"""``quorumsql mcp`` as MCP clients start it: a process that speaks over its streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.conftest import ROOT
from tests.serve_app.cli.conftest import NOWHERE, Call, call, write_config
from tests.serve_app.mcp.clients import fail

__all__ = ["call"]

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
    return write_config(tmp_path, home=".", index={"connection": NOWHERE})


async def test_a_client_is_answered_though_the_service_cannot_start(
    config: Path, tmp_path: Path
) -> None:
    arguments = [*COMMAND[1:], "--config", str(config), "mcp"]
    parameters = StdioServerParameters(command=COMMAND[0], args=arguments, env=ENVIRONMENT)
    with (tmp_path / "errors").open("w") as errors:
        async with Client(stdio_client(parameters, errlog=errors)) as client:
            assert len((await client.list_tools()).tools) == 6
            message = await fail(client, "ask", question="How many?")
            assert message == await fail(client, "list_databases")
    assert "shop" in message or "index" in message


def test_a_line_that_is_no_message_is_passed_over(tmp_path: Path) -> None:
    ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
    lines = ("no JSON", '{"jsonrpc": "2.0", "id": 1}', "[]", "", json.dumps(ping))
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-c", OVER_FAKES],
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(f"{line}\n" for line in lines))
        server.stdin.flush()
        # The end of the input ends the server, also before its last reply.
        reply = json.loads(server.stdout.readline())
        server.stdin.close()
    # What is printed is no message.
    assert reply["id"] == 7
    assert "loading" in (tmp_path / "log").read_text()


def test_wrong_settings_are_reported_on_standard_error(config: Path, call: Call) -> None:
    code, out, error = call(config, "mcp", "--as", "stranger")
    assert (code, out) == (1, "")
    assert "stranger" in error
