"""The whole service for each file of tests, with what a page asks it.

A file that uses it runs in one event loop: ``pytest.mark.asyncio(loop_scope="module")``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from serve_app.composition.wiring import Wiring
from tests.serve_app.page_service import PageService, open_page_service


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(wiring: Wiring) -> AsyncIterator[PageService]:
    with pytest.MonkeyPatch.context() as patch:
        async with open_page_service(wiring, patch) as service:
            yield service


@pytest_asyncio.fixture(loop_scope="module")
async def service(opened: PageService) -> PageService:
    """With nothing of earlier tests stored."""
    await opened.empty()
    return opened
