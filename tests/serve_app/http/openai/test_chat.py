"""``/v1`` as the openai package sees it: models, completions, streams, conversations, errors."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsBase

from nl2sql.errors import EngineUnavailable
from nl2sql.types import Rewriting, Turn
from serve_app.http.openai.content import render_sql
from tests.fakes import (
    FakeConversations,
    FakeGenerator,
    FakeRepairer,
    build_candidate,
    build_diagnostic,
    build_generated,
    build_result,
    build_settings,
)
from tests.serve_app.http.test_event_stream import GENERATED, TellingGenerator
from tests.serve_app.served import build_app, connect, serve

RESULTS = {"SELECT 1": [build_result((1,))] * 40}
TOOLS = [{"type": "function", "function": {"name": "ask_user"}}]
ASKED: list[Any] = [{"role": "user", "content": "How many orders?"}]
# Parameters of OpenAI's that this service knows.
KNOWN = {"model", "messages", "seed", "stream_options", "tools", "functions", "audio", "modalities"}
KNOWN |= {"function_call", "logprobs", "response_format", "tool_choice", "top_logprobs"}
KNOWN |= {"web_search_options"}


def build(generator: FakeGenerator | None = None, **parts: Any) -> Any:
    generator = generator or TellingGenerator(*[GENERATED] * 20)
    return build_app(generator=generator, **{"results": RESULTS, **parts})


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve(build()) as url:
        yield f"{url}/v1"


@pytest.fixture(scope="module")
def client(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key="any", max_retries=0)


def test_databases_are_models(client: openai.OpenAI) -> None:
    models = list(client.models.list())
    assert [model.id for model in models] == ["shop", "quorumsql"]
    assert {model.owned_by for model in models} == {"quorumsql"}
    assert client.models.retrieve("shop").id == "shop"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("shed")


def test_a_stream_has_progress_then_the_same_content(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="quorumsql", messages=ASKED)
    content = whole.choices[0].message.content or ""
    assert "| 1 |" in content
    assert "```sql\nSELECT 1\n```" in content
    assert "without a quorum" in content
    assert whole.usage is not None
    assert (whole.usage.total_tokens, whole.model) == (110, "quorumsql")
    chunks = list(
        client.chat.completions.create(
            model="shop",
            messages=ASKED,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == content
    said = [delta.model_extra for delta in deltas if delta.model_extra]
    assert any("writing queries" in extra["reasoning"] for extra in said)
    assert all(extra["reasoning"] == extra["reasoning_content"] for extra in said)
    extras: list[dict[str, Any]] = [chunk.model_extra or {} for chunk in chunks]
    events = [extra["event"] for extra in extras if "event" in extra]
    assert {event["type"] for event in events} == {"status"}
    assert [event["data"]["done"] for event in events][-1] is True
    finish = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices]
    assert finish[-1] == "stop"
    assert finish.count("stop") == 1
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 110
    assert len({chunk.id for chunk in chunks}) == 1


def test_the_role_comes_at_once_and_a_client_that_stops_ends_its_question() -> None:
    generator = TellingGenerator(GENERATED, seconds=60)
    with serve(build(generator)) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0)
        stream = client.chat.completions.create(model="shop", messages=ASKED, stream=True)
        assert next(iter(stream)).choices[0].delta.role == "assistant"
        assert any("writing" in str(chunk.choices[0].delta.model_extra) for chunk in stream)
        stream.close()
        while not generator.was_cancelled:
            time.sleep(0.01)


# -- conversations ---------------------------------------------------------------------------------


def build_chat(*said: str) -> list[Any]:
    roles = ["user", "assistant"] * len(said)
    return [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)]


async def ask(app: Any, messages: list[Any], headers: Any = None, **options: Any) -> str:
    body = {"model": "shop", "messages": messages, **options}
    async with connect(app) as client:
        response = await client.post("/v1/chat/completions", json=body, headers=headers)
    assert response.status_code == 200, response.text
    content: str = response.json()["choices"][0]["message"]["content"]
    return content


async def test_earlier_messages_make_the_conversation() -> None:
    generator = FakeGenerator(
        GENERATED,
        rewritings={"And in 2024?": Rewriting("How many orders were open in 2024?", "model")},
    )
    sessions = FakeConversations()
    app = build(generator, sessions=sessions)
    answer = f"Answer: 3.\n\n{render_sql('SELECT 3')}\n\nConfidence 0.9, with a quorum."
    content = await ask(app, build_chat("How many orders are open?", answer, "And in 2024?"))
    assert generator.recalled == [(Turn("How many orders are open?", "answered", "SELECT 3"),)]
    assert "Understood as: How many orders were open in 2024?" in content
    assert not any(sessions.turns.values())


async def test_a_number_picks_an_interpretation() -> None:
    first, second = render_sql("SELECT 2"), render_sql("SELECT 1")
    offered = f"The confidence is 0.2.\n\n1. shows two\n\n{first}\n\n2. shows one\n\n{second}"
    generator = FakeGenerator(rewritings={"2": Rewriting("Which?", "chosen", "SELECT 1")})
    content = await ask(
        build(generator, sessions=FakeConversations()), build_chat("Q?", offered, "2")
    )
    (turns,) = generator.recalled
    assert turns == (Turn("Q?", "clarify", interpretations=("SELECT 2", "SELECT 1")),)
    assert "SELECT 1" in content


@pytest.mark.parametrize(
    ("chat", "session"),
    [
        ("chat-1", r"chat-1"),
        ("chat of ann@example.com", r"[0-9a-f]{32}"),
        ("", r""),
    ],
)
async def test_the_chats_id_names_the_session_and_the_user_does_not(
    chat: str, session: str
) -> None:
    sessions = FakeConversations()
    headers = {"X-OpenWebUI-Chat-Id": chat} if chat else {}
    await ask(build(sessions=sessions), ASKED, headers, user="ann")
    names = [name for name, turns in sessions.turns.items() if turns]
    assert len(names) == bool(chat)
    assert all(re.fullmatch(session, name) for name in names)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (
            '### Task:\nGenerate a title.\nJSON format: { "title": "…" }\n'
            "<chat_history>\nUSER: How many orders?\nASSISTANT: 3\n</chat_history>",
            {"title": "How many orders?"},
        ),
        ('### Task:\nGenerate 1-3 tags. { "tags": ["tag1"] }', {"tags": []}),
        ('### Task:\nSuggest questions. { "follow_ups": ["Q?"] }', {"follow_ups": []}),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_what_chat_clients_ask_by_themselves_touches_no_database(
    prompt: str, expected: dict[str, Any], stream: bool
) -> None:
    app = build(FakeGenerator(), results={})
    body = {"model": "shop", "messages": [{"role": "user", "content": prompt}], "stream": stream}
    async with connect(app) as client:
        response = await client.post("/v1/chat/completions", json=body)
    if stream:
        chunks = [line.removeprefix("data: ") for line in response.text.split("\n\n")[:-2]]
        deltas = [json.loads(chunk)["choices"][0]["delta"] for chunk in chunks]
        content = "".join(delta.get("content", "") for delta in deltas)
        assert response.text.endswith("data: [DONE]\n\n")
    else:
        content = response.json()["choices"][0]["message"]["content"]
    assert json.loads(content) == expected


# -- what is no answer -----------------------------------------------------------------------------


async def test_a_failure_is_an_answer_in_words() -> None:
    broken = FakeGenerator(build_generated(build_candidate("SELECT 2")))
    failed = {"SELECT 2": [build_diagnostic("no such column")] * 4}
    content = await ask(build(broken, results=failed, repairer=FakeRepairer(*[""] * 4)), ASKED)
    assert "None of the 1 queries" in content


@pytest.mark.parametrize(
    ("changes", "param", "message"),
    [
        ({"n": 2}, "n", "Unsupported parameter"),
        ({"tools": TOOLS, "tool_choice": "required"}, "tool_choice", "Unsupported parameter"),
        ({"maxRows": 5}, "maxRows", "POST /query has 'max_rows'"),
        ({"trace": True}, "trace", "POST /query has 'trace'"),
        ({"sed": 5}, "sed", "did you mean 'seed'?"),
        ({"tools": "all"}, "tools", "list"),
        ({"messages": []}, "messages", "at least 1 item"),
        ({"messages": build_chat("Q?", "A.")}, "messages", "last message"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "messages",
            "only text can",
        ),
        ({"messages": [{"role": "user", "content": " "}]}, "question", "empty"),
        ({"messages": [{"role": "king", "content": "Q?"}]}, "messages.0.role", "system"),
        ({"model": None}, "model", "string"),
    ],
    ids=str,
)
async def test_a_bad_request_names_the_parameter(
    changes: dict[str, Any], param: str, message: str
) -> None:
    async with connect(build()) as client:
        body = {"model": "shop", "messages": ASKED, **changes}
        response = await client.post("/v1/chat/completions", json=body)
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert message in error["message"]


@pytest.mark.parametrize(
    "accepted",
    [
        {"temperature": 0.2, "max_tokens": 9},
        {"tools": TOOLS, "tool_choice": "auto"},
        {"n": 1, "stop": None},
        {"seed": -1},
        {"seed": 2**63 - 1},
        # All that OpenAI has besides, and what others add.
        dict.fromkeys(sorted(CompletionCreateParamsBase.__annotations__.keys() - KNOWN), 1)
        | dict.fromkeys(("top_k", "min_p", "session_id", "chat_id", "metadata", "keep_alive"), 1),
    ],
    ids=str,
)
async def test_what_steers_a_models_words_is_accepted(accepted: dict[str, Any]) -> None:
    assert "SELECT 1" in await ask(build(), ASKED, **accepted)


@pytest.mark.parametrize(
    ("send", "status", "kind"),
    [
        ({"content": b"{"}, 400, "invalid_request_error"),
        ({"content": b'{"model": "\xff"}'}, 400, "invalid_request_error"),
        ({"content": b"x" * 10_000_000}, 413, "invalid_request_error"),
        ({"json": {"model": "shed", "messages": ASKED}}, 404, "invalid_request_error"),
        (
            {"json": {"model": "shed", "messages": ASKED, "stream": True}},
            404,
            "invalid_request_error",
        ),
        ({"json": {}, "headers": {"host": "evil.example.com"}}, 421, "invalid_request_error"),
        ({"json": {}, "headers": {"origin": "https://evil.io"}}, 403, "permission_error"),
    ],
    ids=["json", "utf8", "large", "model", "model_streamed", "host", "origin"],
)
async def test_every_error_has_openais_form(send: dict[str, Any], status: int, kind: str) -> None:
    headers = {"content-type": "application/json", **send.pop("headers", {})}
    async with connect(build()) as client:
        response = await client.post("/v1/chat/completions", headers=headers, **send)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.json()["error"]["type"] == kind
    assert response.json()["error"]["message"]


@pytest.mark.parametrize("stream", [False, True])
async def test_an_error_while_answering_tells_nothing_of_itself(stream: bool) -> None:
    body = {"model": "shop", "messages": ASKED, "stream": stream}
    for error, told in ((EngineUnavailable("Busy."), "Busy."), (ValueError("secret"), "failed")):
        async with connect(build(FakeGenerator(error))) as client:
            response = await client.post("/v1/chat/completions", json=body)
        assert "secret" not in response.text
        line = next(each for each in response.text.splitlines() if '"error"' in each)
        found = json.loads(line.removeprefix("data: "))["error"]
        assert (found["type"], found["param"], found["code"]) == ("server_error", None, None)
        assert told in found["message"]
        if told == "Busy." and not stream:
            assert response.headers["retry-after-ms"] == "5000"


def test_the_openai_package_raises_what_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    settings = build_settings(identity={"principals": {"ann": {"token_env": "ANN_TOKEN"}}})
    with serve(build(FakeGenerator(EngineUnavailable("Busy.")), settings=settings)) as url:
        wrong = openai.OpenAI(base_url=f"{url}/v1", api_key="guess", max_retries=0)
        with pytest.raises(openai.AuthenticationError):
            wrong.models.list()
        right = openai.OpenAI(base_url=f"{url}/v1", api_key="s3cret", max_retries=0)
        assert list(right.models.list())
        stream = right.chat.completions.create(model="shop", messages=ASKED, stream=True)
        with pytest.raises(openai.APIError, match="Busy"):
            list(stream)
