"""Two instances of the service over one index, as two replicas, and one person's requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from starlette.types import ASGIApp

from nl2sql.types import ResultSet
from retrieval.index_store.store import IndexStore
from serve_app.composition.services import build_identity
from serve_app.settings import Settings
from tests.fakes import FakeGenerator, build_candidate, build_generated, build_result
from tests.serve_app.served import build_app, connect

_MOST_QUESTIONS = 200
SQL = "SELECT 1"


class SlowGenerator(FakeGenerator):
    """Takes ``seconds`` for each question; ``most_at_once`` is the most that it had together."""

    seconds = 0.0
    under_way = 0
    most_at_once = 0

    async def pause(self) -> None:
        """Takes that time."""
        SlowGenerator.under_way += 1
        SlowGenerator.most_at_once = max(SlowGenerator.most_at_once, SlowGenerator.under_way)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            SlowGenerator.under_way -= 1


@dataclass
class Replicas:
    """The instances; requests go to them in turn."""

    apps: list[ASGIApp]
    sent: int = field(default=0)

    async def send(self, token: str, method: str, path: str, **options: Any) -> httpx.Response:
        """A request with that bearer token."""
        self.sent += 1
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers |= options.pop("headers", {})
        async with connect(self.apps[self.sent % len(self.apps)]) as client:
            return await client.request(method, path, headers=headers, **options)

    async def ask(self, token: str, **body: Any) -> httpx.Response:
        """A question, of which one row is the answer unless rows are built otherwise."""
        return await self.send(
            token, "POST", "/query", json={"question": f"Question {self.sent}?", **body}
        )


@asynccontextmanager
async def run_replicas(
    settings: Settings, index_url: str, *, rows: int = 1, seconds: float = 0.0
) -> AsyncIterator[Replicas]:
    """Two instances with pools of their own; each answer has ``rows`` rows."""
    stores = [IndexStore(index_url) for _ in range(2)]
    result = build_result(*((number,) for number in range(rows)))
    results: Mapping[str, list[ResultSet]] = {SQL: [result] * _MOST_QUESTIONS}
    generators = [
        SlowGenerator(*[build_generated(build_candidate(SQL))] * _MOST_QUESTIONS) for _ in stores
    ]
    for generator in generators:
        generator.seconds = seconds
    SlowGenerator.most_at_once = 0
    yield Replicas(
        [
            build_app(
                settings,
                generator=generator,
                results=results,
                access=build_identity(settings, store),
            )
            for generator, store in zip(generators, stores, strict=True)
        ]
    )
    for store in stores:
        await store.close()
