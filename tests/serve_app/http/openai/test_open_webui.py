"""Open WebUI, unmodified, over fakes: a browser asks a question in its page.

It needs gigabytes of packages, so the environment variable ``OPEN_WEBUI_ENVIRONMENT`` names a
virtual environment that has them: ``open-webui`` and ``playwright`` of PyPI. The how-to on clients
says how to make one.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.fakes import FakeSessions, build_result
from tests.serve_app.http.openai.test_other_clients import OneQuery
from tests.serve_app.served import OneQueryGenerator, build_app, serve

BIN = Path(os.environ.get("OPEN_WEBUI_ENVIRONMENT", "nowhere")) / "bin"
CHROMIUM = shutil.which("chromium") or ""

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not (BIN / "open-webui").exists(),
        reason="OPEN_WEBUI_ENVIRONMENT names no virtual environment with open-webui",
    ),
    pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed"),
]

BROWSER = """
import re
import sys
from playwright.sync_api import expect, sync_playwright

url, chromium = sys.argv[1:]
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    page = browser.new_page()
    page.set_default_timeout(60_000)
    expect.set_options(timeout=60_000)
    page.goto(url)
    page.get_by_role("button", name="Okay, Let's Go!").click()
    page.locator("#chat-input").click()
    page.keyboard.type("How many orders?")
    page.keyboard.press("Enter")
    page.get_by_text("SELECT 1").first.wait_for()
    # The model named the conversation.
    expect(page).to_have_title(re.compile("How many orders"))
    page.locator("#chat-input").click()
    page.keyboard.type("And in 2024?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("SELECT 1")).to_have_count(2)
    # Suggestions are fetched after the answer.
    page.wait_for_timeout(5_000)
    browser.close()
"""


@dataclass(slots=True)
class Exchange:
    """A request and its response."""

    sent: bytes = b""
    status: int = 0
    received: bytes = b""

    @property
    def message(self) -> str:
        """The last message that was sent; empty for a list of models."""
        return str(json.loads(self.sent)["messages"][-1]["content"]) if self.sent else ""


class Recording:
    """Keeps what an application is sent and what it answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.exchanges: list[Exchange] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange()
        self.exchanges.append(exchange)

        async def receive_and_keep() -> Message:
            message = await receive()
            exchange.sent += message.get("body", b"")
            return message

        async def send_and_keep(message: Message) -> None:
            exchange.status = message.get("status", exchange.status)
            exchange.received += message.get("body", b"")
            await send(message)

        await self._app(scope, receive_and_keep, send_and_keep)


@contextmanager
def run_open_webui(base_url: str, folder: Path) -> Iterator[str]:
    """Open WebUI as it is installed, without accounts, Ollama and downloads: its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "DATA_DIR": str(folder),
        "WEBUI_SECRET_KEY": "any",
        "WEBUI_AUTH": "False",
        "ENABLE_OLLAMA_API": "False",
        "OPENAI_API_BASE_URL": base_url,
        "OPENAI_API_KEY": "any",
        "OFFLINE_MODE": "True",
        "HF_HUB_OFFLINE": "1",
        "RAG_EMBEDDING_ENGINE": "openai",
    }
    command = (BIN / "open-webui", "serve", "--host", "127.0.0.1", "--port", str(port))
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(240):
                time.sleep(1)
                try:
                    if httpx.get(f"{url}/health").status_code == 200:
                        break
                except httpx.HTTPError:
                    assert server.poll() is None, (folder / "log").read_text()[-4000:]
            yield url
        finally:
            server.terminate()
            server.wait(60)


def test_a_browser_asks_in_its_page(tmp_path: Path) -> None:
    app = Recording(
        build_app(
            generator=OneQueryGenerator(),
            guard=OneQuery(),
            results={"SELECT 1": [build_result((1,))] * 1000},
            sessions=FakeSessions(),
        )
    )
    with serve(app) as url, run_open_webui(f"{url}/v1", tmp_path) as page:
        command = (BIN / "python", "-c", BROWSER, page, CHROMIUM)
        shown = subprocess.run(command, capture_output=True, text=True, env={"HOME": str(tmp_path)})
    assert shown.returncode == 0, shown.stdout[-4000:] + shown.stderr[-4000:]
    assert {exchange.status for exchange in app.exchanges} == {200}
    asked = [found for found in app.exchanges if found.message and not is_task(found)]
    assert [exchange.message for exchange in asked] == ["How many orders?", "And in 2024?"]
    assert all(b'"tools"' in exchange.sent for exchange in asked)
    # What it asks by itself, for the name of the conversation and for suggestions, is no question.
    contents = {
        json.loads(exchange.received)["choices"][0]["message"]["content"]
        for exchange in app.exchanges
        if is_task(exchange)
    }
    assert contents >= {'{"title": "How many orders?"}', '{"follow_ups": []}', '{"tags": []}'}


def is_task(exchange: Exchange) -> bool:
    """Whether the client sent a prompt of its own."""
    return exchange.message.startswith("### Task:")
