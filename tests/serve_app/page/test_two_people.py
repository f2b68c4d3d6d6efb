"""Two people at one real service: nothing remains of the first for the second.

Everything is real but the model, which answers a question with the question itself, read as SQL.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from serve_app.composition.wiring import Wiring
from tests.serve_app.interfaces import build_token
from tests.serve_app.page.browser import Reader, Site
from tests.serve_app.page_service import open_page_service

NAMES = "SELECT department_id, employee_id, last_name FROM employees ORDER BY employee_id"
EVERYTHING_STORED = """
JSON.stringify([
  {...localStorage}, {...sessionStorage}, document.cookie, location.href, document.title,
])
"""


class PageServer:
    """The service in a thread with an event loop of its own."""

    def __init__(self, wiring: Wiring, patch: pytest.MonkeyPatch) -> None:
        self.url = ""
        self._started = threading.Event()
        self._wiring, self._patch = wiring, patch
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._started.wait(120)

    async def _serve(self) -> None:
        async with open_page_service(self._wiring, self._patch) as service:
            config = uvicorn.Config(service.app, log_level="critical", lifespan="off")
            self._server = uvicorn.Server(config)
            listener = socket.create_server(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
            self._started.set()
            await self._server.serve([listener])

    def stop(self) -> None:
        """Stops, and removes what was stored."""
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(30)


@pytest.fixture
def server(wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> Iterator[PageServer]:
    server = PageServer(wiring, monkeypatch)
    yield server
    server.stop()


class Browsers:
    """A browser of each person, as on machines of their own."""

    def __init__(self, chromium: Any, site: Site) -> None:
        self._site = site
        self._chromium = chromium
        self._readers: list[Reader] = []

    def open(self, beside: Reader | None = None) -> Reader:
        """A tab in a new browser, which knows nobody yet, or of what another tab shows."""
        context = beside.page.context if beside else self._chromium.new_context(locale="en-GB")
        reader = Reader(context.new_page(), self._site)
        self._readers.append(reader)
        reader.page.goto(beside.page.url if beside else self._site.url)
        return reader

    def close(self) -> None:
        """Closes all, in none of which may have happened what must not."""
        faults = [fault for reader in self._readers for fault in reader.list_faults()]
        for reader in self._readers:
            reader.page.context.close()
        assert faults == []


@pytest.fixture
def browsers(chromium: Any, server: PageServer) -> Iterator[Browsers]:
    browsers = Browsers(chromium, Site(server.url))
    yield browsers
    browsers.close()


def open_as(browsers: Browsers, name: str) -> Reader:
    reader = browsers.open()
    reader.sign_in(build_token(name))
    return reader


def ask(reader: Reader, question: str) -> None:
    reader.ask(question)
    reader.see(".answer .result tbody td")


def read_names(reader: Reader) -> set[str]:
    names: list[str] = reader.page.evaluate(
        "[...document.querySelectorAll('.result tbody td:nth-child(3)')].map((c) => c.innerText)"
    )
    return {name for name in names if name}


def test_a_tab_that_is_signed_out_shows_nothing_of_before(browsers: Browsers) -> None:
    first = open_as(browsers, "mia")
    ask(first, NAMES)
    names = read_names(first)
    assert names
    second = browsers.open(beside=first)
    second.see(".result, .stopped")

    first.press(".nav-link.person")
    first.page.click("button:has-text('Sign out') >> nth=0")
    for tab in (first, second):
        tab.see("#key")
        if tab is first:
            tab.page.go_back()
            tab.see("#key")
        for text in (tab.page.content(), tab.page.evaluate(EVERYTHING_STORED)):
            assert "last_name" not in text
            assert "mia" not in text
            assert not any(f">{name}<" in text for name in names)
    databases = first.page.evaluate("indexedDB.databases().then((all) => all.length)")
    assert (databases, first.page.evaluate("caches.keys().then((all) => all.length)")) == (0, 0)

    # Whoever signs in next in the same browser finds nothing of the one before, although the
    # address still names the conversation.
    first.sign_in(build_token("noa"))
    first.see("[role=alert]")
    assert "last_name" not in first.page.content()
    first.press(".nav-link:has-text('History')")
    first.see("h1:has-text('History')")
    first.see("text=No conversations yet")
    assert first.page.locator(".conversations li").count() == 0
    assert "last_name" not in first.page.content()
