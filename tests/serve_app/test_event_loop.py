"""No route stops the event loop for long: with large results, 32 candidates, all formats.

While one request computes, all others and the probes of the replica wait. The service is whole but
for the model, as a replica runs it; the results are as large as the default limits allow or nearly.
"""

from __future__ import annotations

import gc
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pytest
import xlsxwriter  # noqa: F401 - its first import takes long
from starlette.types import ASGIApp, Message

from nl2sql.types import Completions, SamplingRequest
from serve_app.composition.wiring import Wiring
from serve_app.http.event_stream import EVENT_STREAM
from serve_app.http.formats import MEDIA_TYPES
from tests.event_loop_watch import EventLoopWatch
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.http.asgi import HOST, JSON, Exchange, build_scope
from tests.serve_app.interfaces import build_token
from tests.serve_app.page_service import PageService, open_page_service

T = TypeVar("T")

_MOST_MS = 100
# The first try imports and compiles.
_TRIES = 3
_NUMBER = "@"
# Each candidate's results differ from those of the others.
_SOURCE = "FROM generate_series(1, 1000) AS t(g), (SELECT 1 FROM employees LIMIT 1) AS e"
WIDE = f"SELECT g + {_NUMBER}, {', '.join(f'g+{at}' for at in range(1, 100))} {_SOURCE}"
WIDEST = f"SELECT {', '.join(f'g+{at}' for at in range(300))} {_SOURCE}"
# Cells of 38 kB with letters of several bytes: 24 MB.
_EIGHT = " || ".join("x" * 8)
HEAVY = (
    f"SELECT g + {_NUMBER} AS g, {_EIGHT} AS x FROM (SELECT g, {_EIGHT} AS x FROM "
    f"(SELECT g, '{'xyéz <a|b> [c](d)' * 36}' AS x {_SOURCE}) AS a) AS b"
)
LARGE = {"wide": WIDE, "heavy": HEAVY}
OTHER_SQL = {"wide": WIDEST, "heavy": HEAVY.replace(_NUMBER, "1")}


@dataclass(frozen=True)
class Asked:
    """A request, and the route that it is sent to."""

    route: str
    body: Mapping[str, Any] = field(default_factory=dict)
    accept: str = "application/json"
    path: str = ""


class NumberingEngine(EchoEngine):
    """Writes the number of the sample into the query."""

    def __init__(self) -> None:
        super().__init__()
        self._samples = 0

    async def sample(self, request: SamplingRequest) -> Completions:
        """What it was asked, each time with the next number."""
        said = await super().sample(request)
        texts = []
        for text in said.texts:
            self._samples += 1
            texts.append(text.replace(_NUMBER, str(self._samples)))
        return replace(said, texts=tuple(texts))


class Reader(Exchange):
    """A client in the same loop, which must not take its time: it keeps little of the body."""

    async def _send(self, message: Message) -> None:
        body = message.get("body", b"")
        await super()._send({**message, "body": body[:2000] if len(self.body) < 2000 else b""})


def list_requests() -> list[Asked]:
    found = []
    for name, question in LARGE.items():
        asked = {"question": question, "max_rows": 1000}
        run = {"sql": OTHER_SQL[name], "max_rows": 1000}
        chat = {"model": "demo_erp", "messages": [{"role": "user", "content": question}]}
        found += [Asked("POST /query", {**asked, "k": 32, "trace": True})]
        found += [Asked("POST /query", {**asked, "k": 2})]
        found += [
            Asked("POST /query", {**asked, "k": 2}, each) for each in (*MEDIA_TYPES, EVENT_STREAM)
        ]
        found += [Asked("POST /run", run, each) for each in MEDIA_TYPES]
        found += [Asked("POST /translate", {**asked, "k": 8})]
        found += [
            Asked("POST /v1/chat/completions", {**chat, "stream": each}) for each in (False, True)
        ]
    return found


async def send(app: ASGIApp, asked: Asked, **headers: str) -> Reader:
    method, _, path = asked.route.partition(" ")
    token = {"authorization": f"Bearer {build_token('ada')}", "accept": asked.accept, **headers}
    sent = [(name.encode(), value.encode()) for name, value in token.items()]
    reader = Reader([json.dumps(asked.body).encode()])
    await reader.send_to(app, build_scope(method, asked.path or path, (HOST, JSON, *sent)))
    return reader


class Heartbeat:
    """Measures requests; ``late`` has those during which the loop computed too long each time."""

    def __init__(self) -> None:
        self.late: dict[str, str] = {}

    async def measure(self, name: str, send: Callable[..., Awaitable[T]], *args: Any) -> T:
        """What ``send`` returns."""
        for _ in range(_TRIES):
            watch = EventLoopWatch()
            async with watch.watch():
                result = await send(*args)
            computed_ms = max(watch.computed_ms)
            if computed_ms <= _MOST_MS:
                return result
        self.late[name] = f"{computed_ms:.0f} ms\n{watch.describe()}"
        return result


@pytest.fixture
async def service(wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PageService]:
    engine = NumberingEngine()
    async with open_page_service(wiring, monkeypatch, engine) as opened:
        await send(opened.app, Asked("POST /run", {"sql": "SELECT 1"}))
        await send(opened.app, Asked("POST /query", {"question": "SELECT 1"}))
        # As a replica does when it has started.
        gc.collect()
        gc.freeze()
        yield opened
        gc.unfreeze()


@pytest.mark.long
async def test_no_route_stops_the_event_loop(service: PageService) -> None:
    heartbeat = Heartbeat()
    for asked in list_requests():
        name = f"{asked.route} {asked.accept} {str(asked.body)[:60]}"
        reader = await heartbeat.measure(name, send, service.app, asked)
        assert reader.status == 200, reader.body
    assert not heartbeat.late, heartbeat.late
