"""``GET /queries/{id}/events``: who may follow which question, while it runs and afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from nl2sql.errors import EngineUnavailable
from nl2sql.types import Principal
from serve_app.service.running_queries import (
    EventsPage,
    RunningQueries,
    RunningQuery,
    UnknownQuery,
)
from tests.fakes import FakeGenerator, build_result, build_settings
from tests.serve_app.http.test_event_stream import ACCEPT, GENERATED, read_events
from tests.serve_app.served import build_app, connect

ANN = Principal("ann")
QUESTION = {"question": "How many?"}
TOKENS = {"ANN_TOKEN": "ann", "EVE_TOKEN": "eve"}


@pytest.fixture
async def client(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    for name, token in TOKENS.items():
        monkeypatch.setenv(name, token)
    settings = build_settings(
        identity={
            "principals": {
                "ann": {"token_env": "ANN_TOKEN"},
                "eve": {"token_env": "EVE_TOKEN"},
            }
        },
    )
    app = build_app(
        settings,
        generator=FakeGenerator(GENERATED, GENERATED, EngineUnavailable("Busy.")),
        results={"SELECT 1": [build_result((1,))] * 4},
    )
    async with connect(app) as client:
        yield client


def sign(name: str, **headers: str) -> dict[str, str]:
    return {"authorization": f"Bearer {name}", **headers}


async def follow(client: httpx.AsyncClient, name: str, who: str, **headers: str) -> Any:
    return await client.get(f"/queries/{name}/events", headers=sign(who, **headers))


@pytest.mark.parametrize("accept", [{}, ACCEPT], ids=["plain", "streamed"])
async def test_who_asked_sees_all_again_and_nobody_else_anything(
    client: httpx.AsyncClient, accept: dict[str, str]
) -> None:
    asked = await client.post("/query", json=QUESTION, headers=sign("ann", **accept))
    name = asked.headers["quorumsql-query-id"]
    followed = await follow(client, name, "ann")
    assert followed.headers["content-type"] == "text/event-stream; charset=utf-8"
    events = read_events(followed.text)
    assert [kind for kind, _ in events if kind != "stage"] == [
        "candidate",
        "vote",
        "rows",
        "answer",
    ]
    assert events[-1][1] == (asked.json() if not accept else read_events(asked.text)[-1][1])
    rest = await follow(client, name, "ann", **{"last-event-id": str(len(events) - 1)})
    assert (rest.text.count("event: "), "event: answer" in rest.text) == (1, True)
    others, unknown = await follow(client, name, "eve"), await follow(client, "none", "eve")
    assert (others.status_code, others.json()) == (404, unknown.json())


async def test_an_error_is_the_last_event(client: httpx.AsyncClient) -> None:
    for _ in range(2):
        await client.post("/query", json=QUESTION, headers=sign("ann"))
    streamed = await client.post("/query", json=QUESTION, headers=sign("ann", **ACCEPT))
    kind, problem = read_events(streamed.text)[-1]
    assert (kind, problem["detail"]) == ("problem", "Busy.")
    followed = await follow(client, streamed.headers["quorumsql-query-id"], "ann")
    assert read_events(followed.text)[-1] == (kind, problem)


async def test_translate_gives_the_query_and_no_rows(client: httpx.AsyncClient) -> None:
    response = await client.post("/translate", json=QUESTION, headers=sign("ann"))
    body = response.json()
    assert (response.status_code, body["outcome"], body["sql"]) == (200, "translated", "SELECT 1")
    assert not {"rows", "columns", "text"} & {*body}
    wrong = await client.post("/translate", json={"question": ""}, headers=sign("ann"))
    assert wrong.status_code == 422


# -- the questions of one process ------------------------------------------------------------------


async def test_events_come_as_they_are_recorded() -> None:
    query = RunningQuery(ANN)
    seen = []

    async def collect() -> None:
        async for event in query.follow(silence_s=0.05):
            seen.append(event.kind if event else None)

    task = asyncio.create_task(collect())
    await asyncio.sleep(0.01)
    query.append("stage", (b"{}",))
    await asyncio.sleep(0.12)
    query.append("answer", (b"{}",))
    await task
    assert (seen[0], seen[-1], seen.count(None) >= 1) == ("stage", "answer", True)


# -- the questions of other replicas ---------------------------------------------------------------


class OneOther:
    """Another replica, with questions of its own."""

    def __init__(self) -> None:
        self.running = RunningQueries(keep_s=60)
        self.asked = 0

    async def read_events(
        self, name: str, principal: Principal, after: int, wait_s: float
    ) -> EventsPage | None:
        self.asked += 1
        return await self.running.read(name, principal, after, wait_s)


async def collect(running: RunningQueries, name: str, principal: Principal, after: int = 0) -> Any:
    events = await running.follow(name, principal, silence_s=0.05, after=after)
    return [
        (event.number, event.kind, b"".join(event.content)) if event else None
        async for event in events
    ]


async def test_a_question_of_another_replica_is_followed() -> None:
    other = OneOther()
    here = RunningQueries(keep_s=60, replicas=other)
    query = other.running.open(ANN)
    query.append("stage", (b"1",))
    following = asyncio.create_task(collect(here, query.id, ANN))
    await asyncio.sleep(0.12)
    query.append("rows", (b"2",))
    query.append("answer", (b"3",))
    found = await following
    assert [event for event in found if event] == [
        (1, "stage", b"1"),
        (2, "rows", b"2"),
        (3, "answer", b"3"),
    ]
    assert None in found
    assert await collect(here, query.id, ANN, after=2) == [(3, "answer", b"3")]


async def test_another_replica_tells_nothing_to_others() -> None:
    other = OneOther()
    here = RunningQueries(keep_s=60, replicas=other)
    query = other.running.open(ANN)
    others = (query.id, Principal("eve")), (query.id, Principal("ann", ("x",))), ("none", ANN)
    for name, principal in others:
        with pytest.raises(UnknownQuery):
            await here.follow(name, principal, silence_s=1, after=0)
    own = here.open(ANN)
    own.append("answer", (b"{}",))
    asked = other.asked
    assert await collect(here, own.id, ANN) == [(1, "answer", b"{}")]
    assert other.asked == asked
