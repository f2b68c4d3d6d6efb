"""The whole service for each test, with what a page asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from serve_app.composition.wiring import Wiring
from tests.serve_app.page_service import PageService, open_page_service


@pytest.fixture
async def service(wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PageService]:
    async with open_page_service(wiring, monkeypatch) as opened:
        yield opened
