"""A browser and a service for each test. Skips, and says so, where there is no browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve_app.page.browser import CHROMIUM, Reader, Served
from tests.serve_app.page.fake_service import FakeService


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright.

    While it is open, this thread has a running event loop, in which other fixtures cannot start
    one; so it is open for one file of tests only.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"there is no {CHROMIUM}")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def served() -> Iterator[Served]:
    """A service that answers at once."""
    served = Served(FakeService())
    yield served
    served.stop()


@pytest.fixture
def reader(chromium: Any, served: Served) -> Iterator[Reader]:
    """Somebody with a mouse; afterwards nothing may have happened that must not."""
    context = chromium.new_context(locale="en-GB", accept_downloads=True)
    reader = Reader(context.new_page(), served)
    yield reader
    faults = reader.list_faults()
    context.close()
    assert faults == []


@pytest.fixture(params=["mouse", "keyboard"])
def either(request: pytest.FixtureRequest, reader: Reader) -> Reader:
    """The reader, once with a mouse and once with the keyboard alone."""
    reader.hand = request.param
    return reader
