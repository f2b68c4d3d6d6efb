"""Two people at one real service: each sees what their own policy allows, and nothing remains.

Everything is real but the model, which answers a question with the question itself, read as SQL.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from serve_app.composition.wiring import Wiring
from tests.serve_app.interfaces import build_token
from tests.serve_app.page.browser import WATCH
from tests.serve_app.page_service import open_page_service

# Mia belongs to department 31 and Noa to department 7.
NAMES = "SELECT department_id, employee_id, last_name FROM employees ORDER BY employee_id"
EVERYTHING_STORED = """
JSON.stringify([
  {...localStorage}, {...sessionStorage}, document.cookie, location.href, document.title,
])
"""


class PageServer:
    """The service in a thread with an event loop of its own."""

    def __init__(self, wiring: Wiring, patch: pytest.MonkeyPatch, folder: Path) -> None:
        self.url = ""
        self._started = threading.Event()
        self._wiring, self._patch, self._folder = wiring, patch, folder
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._started.wait(120)

    async def _serve(self) -> None:
        async with open_page_service(self._wiring, self._patch, self._folder) as service:
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
def server(wiring: Wiring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[PageServer]:
    server = PageServer(wiring, monkeypatch, tmp_path)
    yield server
    server.stop()


class Browsers:
    """A browser of each person, as on machines of their own."""

    def __init__(self, chromium: Any, url: str) -> None:
        self.url = url
        self._chromium = chromium
        self._contexts: list[Any] = []

    def open(self) -> Any:
        """A tab in a new browser, which knows nobody yet."""
        context = self._chromium.new_context(locale="en-GB")
        context.set_default_timeout(20_000)
        context.add_init_script(WATCH)
        self._contexts.append(context)
        tab = context.new_page()
        tab.goto(self.url)
        return tab

    def close(self) -> None:
        """Closes all, in none of which may have happened what must not."""
        noted = [
            tab.evaluate("window.__noted")
            for context in self._contexts
            for tab in context.pages
            if tab.url.startswith(self.url)
        ]
        for context in self._contexts:
            context.close()
        assert [each for each in noted if each] == []


@pytest.fixture
def browsers(chromium: Any, server: PageServer) -> Iterator[Browsers]:
    browsers = Browsers(chromium, server.url)
    yield browsers
    browsers.close()


def sign_in(tab: Any, name: str) -> None:
    tab.fill("#key", build_token(name))
    tab.keyboard.press("Enter")
    tab.locator(".sign-in").wait_for(state="detached")


def ask(tab: Any, question: str) -> None:
    tab.fill("#question", question)
    tab.keyboard.press("Enter")
    tab.locator(".answer .result tbody td").first.wait_for()


def read_departments(tab: Any) -> set[str]:
    """The first column of the rows that are shown."""
    tab.locator(".result tbody td").first.wait_for()
    rows: list[list[str]] = tab.evaluate(
        "[...document.querySelectorAll('.result tbody tr')]"
        ".map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText))"
    )
    return {cells[0] for cells in rows if len(cells) == 3}


def read_names(tab: Any) -> set[str]:
    names: list[str] = tab.evaluate(
        "[...document.querySelectorAll('.result tbody td:nth-child(3)')].map((c) => c.innerText)"
    )
    return {name for name in names if name}


def share(tab: Any) -> str:
    tab.keyboard.press("Escape")
    tab.click(".answer-foot button:has-text('Share')")
    field = tab.locator("dialog input")
    for _ in range(200):
        link: str = field.input_value()
        if "#/share/" in link:
            tab.keyboard.press("Escape")
            return link
        tab.wait_for_timeout(50)
    raise AssertionError("no link")


def test_a_shared_link_shows_each_the_own_rows(browsers: Browsers) -> None:
    mia, noa, eve = browsers.open(), browsers.open(), browsers.open()
    sign_in(mia, "mia")
    ask(mia, NAMES)
    assert read_departments(mia) == {"31"}
    link = share(mia)

    noa.goto(link)
    noa.reload()
    # Nothing of the shared answer is shown before it is known who asks.
    assert "last_name" not in noa.content()
    sign_in(noa, "noa")
    assert read_departments(noa) == {"7"}
    assert "Shared by mia" in noa.locator(".question").first.text_content()
    assert "department_id = 7" in noa.locator(".answer").inner_text()
    assert not read_names(mia) & read_names(noa)

    eve.goto(link)
    eve.reload()
    sign_in(eve, "eve")
    eve.locator("[role=alert]").first.wait_for()
    assert eve.locator(".result").count() == 0
    assert not any(name in eve.content() for name in read_names(mia))

    mia.goto(link)
    mia.reload()
    assert read_departments(mia) == {"31"}


def test_a_tab_that_is_signed_out_shows_nothing_of_before(browsers: Browsers) -> None:
    first = browsers.open()
    sign_in(first, "mia")
    ask(first, NAMES)
    names = read_names(first)
    assert names
    second = first.context.new_page()
    second.goto(first.url)
    second.locator(".result, .stopped").first.wait_for()

    first.keyboard.press("Escape")
    first.keyboard.press("g")
    first.keyboard.press("a")
    first.click("button:has-text('Sign out') >> nth=0")
    for tab in (first, second):
        tab.locator("#key").wait_for()
        if tab is first:
            tab.go_back()
            tab.locator("#key").wait_for()
        for text in (tab.content(), tab.evaluate(EVERYTHING_STORED)):
            assert "last_name" not in text
            assert "mia" not in text
            assert not any(f">{name}<" in text for name in names)
    databases = first.evaluate("indexedDB.databases().then((all) => all.length)")
    assert (databases, first.evaluate("caches.keys().then((all) => all.length)")) == (0, 0)

    # Whoever signs in next in the same browser finds nothing of the one before, although the
    # address still names the conversation.
    sign_in(first, "noa")
    first.locator("[role=alert]").first.wait_for()
    assert "last_name" not in first.content()
    first.keyboard.press("Escape")
    first.keyboard.press("g")
    first.keyboard.press("h")
    first.locator("h1:has-text('History')").wait_for()
    first.wait_for_timeout(500)
    assert first.locator(".conversations li").count() == 0
    assert "last_name" not in first.content()


def test_a_sign_in_that_ends_elsewhere_ends_here(browsers: Browsers) -> None:
    here, there = browsers.open(), browsers.open()
    for tab in (here, there):
        sign_in(tab, "mia")
    ask(here, NAMES)
    there.keyboard.press("Escape")
    there.keyboard.press("g")
    there.keyboard.press("a")
    there.click("button:has-text('Sign out everywhere')")
    there.locator("#key").wait_for()
    here.keyboard.press("Escape")
    here.keyboard.press("g")
    here.keyboard.press("h")
    here.locator("#key").wait_for()
    assert "Your sign-in has ended" in here.locator(".sign-in").inner_text()
    assert "last_name" not in here.content()
