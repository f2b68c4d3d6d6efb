"""The client, over HTTP and in process: one interface."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

import quorumsql
from nl2sql.types import Principal
from quorumsql import errors
from quorumsql.async_client import AsyncClient
from quorumsql.client import Client
from quorumsql.contract import AnsweredResponse, QueryRequest, QueryResponse
from quorumsql.wire import EventReader, Export, NoRows, translate
from retrieval.examples.feedback import FeedbackReceipt
from serve_app.in_process import AppTransport
from serve_app.operations.background import is_ready
from tests.conftest import ROOT
from tests.fakes import FakeConversations, FakeGenerator, build_result
from tests.serve_app.http.test_event_stream import GENERATED
from tests.serve_app.http.test_feedback import FakeTaker
from tests.serve_app.served import build_app, serve

QUESTION = "How many orders?"
LOCALHOST = "http://localhost"
ANN = Principal("ann")


def build_service() -> ASGIApp:
    return build_app(
        generator=FakeGenerator(*[GENERATED] * 8),
        results={"SELECT 1": [build_result((1,))] * 16},
        taker=FakeTaker(FeedbackReceipt("stored", "abc")),
        sessions=FakeConversations(),
    )


@contextmanager
def over_http() -> Iterator[Client]:
    with serve(build_service()) as url, quorumsql.connect(url) as client:
        yield client


async def open_client() -> AsyncClient:
    return AsyncClient(LOCALHOST, transport=AppTransport(build_service(), ANN))


@contextmanager
def in_process() -> Iterator[Client]:
    with Client(open_client()) as client:
        yield client


WAYS = {"http": over_http, "in_process": in_process}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
Way = Callable[[], AbstractContextManager[Client]]


@every_way
def test_an_answer_and_what_can_be_said_of_it(way: Way) -> None:
    with way() as client:
        answer = client.ask(QUESTION, k=2, trace=True)
        assert isinstance(answer, AnsweredResponse)
        assert (answer.sql, answer.rows) == ("SELECT 1", [[1]])
        assert answer.trace is not None
        assert client.rate(answer, "right").outcome == "stored"


@every_way
def test_a_stream_ends_with_the_answer(way: Way) -> None:
    with way() as client:
        kinds = [event.event for event in client.stream(QUESTION)]
    assert kinds[-1] == "answer"
    assert {"stage", "candidate", "vote", "rows"} <= {*kinds[:-1]}


def test_rows_in_another_format() -> None:
    with in_process() as client:
        assert client.status().ready
        exported = client.export(QUESTION, "text/csv")
    assert isinstance(exported, Export)
    assert exported.content.splitlines()[-1] == b"1"
    assert exported.headers["QuorumSQL-Database"] == "shop"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"k": 33}, "k"),
        ({"kk": 1}, "kk"),
        ({"k": "many"}, "k"),
        ({"evidence": "\udcff"}, "request"),
    ],
)
def test_what_is_wrong_with_a_request_is_named(options: dict[str, Any], field: str) -> None:
    with in_process() as client:
        for question in (QUESTION, QueryRequest(question=QUESTION)):
            with pytest.raises(errors.InvalidRequest) as caught:
                client.ask(question, **options)
            assert caught.value.field == field


def test_a_request_can_be_given_whole() -> None:
    with in_process() as client:
        answer: QueryResponse = client.ask(QueryRequest(question=QUESTION), session="my-chat")
        with pytest.raises(errors.InvalidRequest):
            client.rate(answer, "maybe")  # type: ignore[arg-type]
        with pytest.raises(errors.QuorumError):
            client.table("shop", "\udcff")
    assert answer.session == "my-chat"


def test_what_was_asked_leaves_nothing_pending(caplog: pytest.LogCaptureFixture) -> None:
    with over_http() as client:
        client.ask(QUESTION)
    with over_http() as client:
        for _ in client.stream(QUESTION):
            break
        assert client.ask(QUESTION).outcome == "answered"
    gc.collect()
    assert [record.message for record in caplog.records if record.name == "asyncio"] == []


def test_the_blocking_client_has_every_method() -> None:
    assert {name for name in vars(AsyncClient) if not name.startswith("_")} <= {*vars(Client)}


async def test_the_blocking_client_works_beside_a_running_loop() -> None:
    with over_http() as client:
        assert client.ask(QUESTION).outcome == "answered"


def test_the_callers_event_loop_stays_its_own() -> None:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        with in_process():
            assert asyncio.get_event_loop() is loop
        assert asyncio.get_event_loop() is loop
        assert not loop.is_closed()
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def test_nobody_there() -> None:
    with (
        quorumsql.connect("http://127.0.0.1:9") as client,
        pytest.raises(errors.Unavailable, match="No service answers"),
    ):
        client.ask(QUESTION)


def test_the_address_and_the_token_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        body = {"outcome": "failed", "question": "Q?", "database": "shop", "reason": "None ran."}
        return httpx.Response(
            200, content=b"event: answer\ndata: " + json.dumps(body).encode() + b"\n"
        )

    monkeypatch.setenv("QUORUMSQL_URL", "http://sql.example.com/")
    monkeypatch.setenv("QUORUMSQL_TOKEN", "s3cret")
    with quorumsql.connect(transport=httpx.MockTransport(answer)) as client:
        assert client.ask(QUESTION).outcome == "failed"
    assert str(seen[0].url) == "http://sql.example.com/query"
    assert seen[0].headers["authorization"] == "Bearer s3cret"


def test_a_service_on_this_machine_is_not_asked_through_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with over_http() as client:
        assert client.ask(QUESTION).outcome == "answered"
        assert is_ready(client.url)


@pytest.mark.parametrize(
    ("status", "title", "kind"),
    [
        (401, "T", errors.Unauthenticated),
        (403, "T", errors.Forbidden),
        (429, "T", errors.LimitReached),
        (500, "T", errors.QuorumError),
        (503, "T", errors.Unavailable),
        (503, "Busy", errors.Busy),
        (504, "T", errors.DeadlineExceeded),
    ],
)
def test_problems_are_errors(status: int, title: str, kind: type[errors.QuorumError]) -> None:
    problem = {"title": title, "status": status, "detail": "Because."}
    error = translate(httpx.Response(status, json=problem, headers={"retry-after": "2.5"}))
    assert type(error) is kind
    assert error.message == "Because."
    if isinstance(error, errors.LimitReached | errors.Busy):
        assert error.retry_after_s == 2.5


def test_what_is_no_problem_document_is_shown() -> None:
    error = translate(httpx.Response(502, text="<html>Bad gateway</html>"))
    assert "502" in str(error)
    assert "Bad gateway" in str(error)


@pytest.mark.parametrize(
    "body",
    [b"<html>Hi</html>", b"[]", b"event: answer\ndata: {}\n", b"event: problem\ndata: {}\n"],
)
@pytest.mark.parametrize(
    "call",
    [
        Client.me,
        Client.status,
        Client.databases,
        Client.delete_conversations,
        lambda client: client.ask(QUESTION),
        lambda client: client.translate(QUESTION),
        lambda client: client.run("SELECT 1"),
    ],
)
def test_what_is_no_document_of_the_service_is_an_error(
    call: Callable[[Client], Any], body: bytes
) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=body))
    with quorumsql.connect(transport=transport) as client, pytest.raises(errors.QuorumError):
        call(client)


@pytest.mark.timeout(60)
def test_a_long_event_is_read_in_the_time_that_its_bytes_need() -> None:
    pieces = [b"event: stage\ndata: ", *[b" " * 256] * 2**17, b'{"stage": "plan"}\n']
    reader = EventReader("http://localhost")
    assert len([event for piece in pieces for event in reader.feed(piece)]) == 1


def test_no_rows_have_a_reason() -> None:
    body = {"title": "No rows", "status": 422, "detail": "Not about shops.", "outcome": "refused"}
    transport = httpx.MockTransport(lambda _: httpx.Response(422, json=body))
    with quorumsql.connect(transport=transport) as client:
        assert client.export(QUESTION, "text/csv") == NoRows("refused", "Not about shops.")


def test_without_the_service_it_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['serve_app'] = None\n"
        "import quorumsql\n"
        "try:\n    quorumsql.open_local()\n"
        "except quorumsql.QuorumError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install quorumsql" in done.stdout, done.stderr


def test_the_client_needs_httpx_and_pydantic_alone() -> None:
    program = (
        "import json, sys; before = {*sys.modules}\n"
        "import quorumsql\n"
        "client = quorumsql.connect()\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in {*sys.modules} - before})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "client")},
    )
    loaded = {*json.loads(done.stdout)} - sys.stdlib_module_names
    ours = {"nl2sql", "retrieval", "generation", "ranking", "execution", "serve_app", "data"}
    assert not loaded & (ours | {"ray", "fastapi", "starlette", "pandas", "pyarrow", "numpy"})


def test_an_empty_id_does_not_delete_everything() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={}))
    with quorumsql.connect(transport=transport) as client, pytest.raises(errors.InvalidRequest):
        client.delete_conversation("")


def test_a_client_made_of_an_address_says_what_makes_one() -> None:
    with pytest.raises(TypeError, match=r"quorumsql\.connect\(url\)"):
        Client("http://localhost:8000")  # type: ignore[arg-type]
