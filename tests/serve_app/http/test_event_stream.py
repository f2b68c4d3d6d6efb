"""An answer as a stream of events, and the client that waits for it as long as it lives."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

import quorumsql
from nl2sql.errors import EngineUnavailable, QuorumError
from nl2sql.progress import report_sampling
from nl2sql.types import Generated, Progress
from quorumsql import wire
from quorumsql.contract import AnsweredResponse, QueryRequest
from quorumsql.contract.events import ProgressEvent, StageEvent
from serve_app.http import event_stream
from tests.fakes import FakeGenerator, build_candidate, build_generated, build_result
from tests.serve_app.served import build_app, connect, serve

GENERATED = build_generated(build_candidate("SELECT 1"))
ACCEPT = {"accept": "text/event-stream"}
QUESTION = {"question": "How many orders?"}
ASKED = QueryRequest.model_validate(QUESTION)


class TellingGenerator(FakeGenerator):
    """Tells how far it is, and takes its time."""

    def __init__(self, *answers: Generated | Exception, seconds: float = 0.0) -> None:
        super().__init__(*answers)
        self._seconds = seconds
        self.has_begun = self.was_cancelled = False

    async def pause(self) -> None:
        report_sampling("request", Progress("", 1, 4, 100, 100, 30))
        self.has_begun = True
        try:
            await asyncio.sleep(self._seconds)
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise


def build(generator: FakeGenerator) -> ASGIApp:
    return build_app(generator=generator, results={"SELECT 1": [build_result((1,))] * 2})


def read_events(text: str) -> list[tuple[str, Any]]:
    events = []
    for block in text.strip().split("\n\n"):
        if not block.startswith(":"):
            name, data = (line.partition(": ")[2] for line in block.split("\n"))
            events.append((name, json.loads(data)))
    return events


async def test_the_stages_are_told_and_then_the_answer_as_it_is_without_a_stream() -> None:
    async with connect(build(TellingGenerator(GENERATED, GENERATED))) as client:
        streamed = await client.post("/query", json=QUESTION, headers=ACCEPT)
        plain = await client.post("/query", json=QUESTION)
    assert streamed.status_code == 200
    assert streamed.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert streamed.headers["cache-control"] == "no-store"
    *events, (last, answer) = read_events(streamed.text)
    assert (last, answer) == ("answer", plain.json())
    stages = [event for event in events if event[0] == "stage"]
    told = " ".join(fields["stage"] for _, fields in stages)
    assert told == "wait retrieve gate plan generate guard assess vote derive execute"
    generate = next(fields for _, fields in stages if fields["stage"] == "generate")
    assert (generate["done"], generate["total"], generate["answer_tokens"]) == (1, 4, 30)
    others = [event for event in events if event[0] != "stage"]
    assert [name for name, _ in others] == ["candidate", "vote", "rows"]
    assert others[0][1] == {
        "id": "c1", "sql": "SELECT 1", "samples": 1, "status": "accepted", "reason": "",
    }  # fmt: skip
    assert others[1][1]["leader"] == "SELECT 1"
    assert others[2][1]["rows"] == plain.json()["rows"]


async def test_what_goes_wrong_is_an_event_or_a_status() -> None:
    for error, detail in ((EngineUnavailable("Busy."), "Busy."), (ValueError("secret"), "failed")):
        async with connect(build(FakeGenerator(error))) as client:
            found = await client.post("/query", json=QUESTION, headers=ACCEPT)
        name, problem = read_events(found.text)[-1]
        assert (found.status_code, name) == (200, "problem")
        assert detail in problem["detail"]
        assert "secret" not in found.text
    for wrong, status in (({"question": " "}, 422), ({"database": "?"}, 404)):
        async with connect(build(FakeGenerator())) as client:
            found = await client.post("/query", json={**QUESTION, **wrong}, headers=ACCEPT)
        assert found.status_code == status
        assert found.headers["content-type"] == "application/problem+json"


async def test_a_client_that_leaves_ends_its_question() -> None:
    generator = TellingGenerator(GENERATED, seconds=60)
    with serve(build(generator)) as url:
        async with httpx.AsyncClient(base_url=url) as client:
            asking = client.stream("POST", "/query", json=QUESTION, headers=ACCEPT)
            async with asking as response:
                async for line in response.aiter_lines():
                    if "generate" in line:
                        break
        async with asyncio.timeout(60):
            while not generator.was_cancelled:  # noqa: ASYNC110 - it has no event to wait for
                await asyncio.sleep(0.01)


async def test_a_client_hears_that_the_service_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model goes on once it has been heard three times, however long that takes."""
    assert wire.STREAM_TIMEOUT.read is not None
    assert wire.STREAM_TIMEOUT.read > 10 * event_stream.SILENCE_S
    monkeypatch.setattr(event_stream, "SILENCE_S", 0.02)
    heard = threading.Event()

    class WaitingGenerator(FakeGenerator):
        async def pause(self) -> None:
            await asyncio.to_thread(heard.wait)

    with serve(build(WaitingGenerator(GENERATED))) as url:
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            asking = client.stream("POST", "/query", json=QUESTION, headers=ACCEPT)
            async with asking as response:
                lines, beats = [], 0
                async for line in response.aiter_lines():
                    lines.append(line)
                    beats += line.startswith(":")
                    if beats >= 3:
                        heard.set()
    assert read_events("\n".join(lines))[-1][1]["rows"] == [[1]]


def test_the_client_tells_its_stages_and_line_ends_of_other_kinds_are_text() -> None:
    odd = "SELECT 1 -- \u2028 \x85 \u2029 \r"
    app = build_app(
        generator=FakeGenerator(build_generated(build_candidate(odd))),
        results={odd: [build_result((1,))]},
    )
    told: list[ProgressEvent] = []
    with serve(app) as url:
        answer = quorumsql.connect(url).ask(ASKED, show=told.append)
    assert isinstance(answer, AnsweredResponse)
    assert answer.sql == odd
    assert [event.stage for event in told if isinstance(event, StageEvent)][-1] == "execute"


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b': still at work\n\nevent: stage\ndata: {"stage":"plan"}\n\n', "ended the connection"),
        (b'event: answer\ndata: {"outcome":"sung"}\n\n', "of this version"),
    ],
    ids=["no_answer", "other_version"],
)
def test_an_incomplete_or_unknown_answer_is_an_error(sent: bytes, message: str) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=sent))
    with (
        quorumsql.connect(transport=transport) as client,
        pytest.raises(QuorumError, match=message),
    ):
        client.ask(ASKED)
