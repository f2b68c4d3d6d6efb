"""The engine for OpenAI's protocol against servers that fail, refuse and know less than vLLM."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from generation.engines.openai_engine import OpenAiEngine
from nl2sql.errors import EngineUnavailable, PromptTooLong, QuorumError, SettingsError
from nl2sql.settings import ModelSettings
from nl2sql.types import Message, Prompt, SamplingRequest
from tests.generation.engines.loopback import Answer, Loopback, Reply, serve, wait_for
from tests.waiting import cancel

CHAT = "/v1/chat/completions"
PROMPT = Prompt("generate", (Message("system", "You write SQL."), Message("user", "How many?")))
VLLM: Answer = Reply({"count": 3, "max_model_len": 500, "tokens": [1, 2, 3]})


class Impatient(OpenAiEngine):
    """Tries once."""

    RETRIES = 0


def build_engine(server: Loopback, **settings: Any) -> OpenAiEngine:
    values = {"base_url": f"{server.url}/v1", "name": "tiny", **settings}
    return Impatient(ModelSettings(engine="openai", **values))


def build_request(**overrides: Any) -> SamplingRequest:
    values: dict[str, Any] = {
        "prompt": PROMPT,
        "k": 1,
        "seed": 7,
        "temperature": 0.7,
        "max_tokens": 50,
        "answer_start": "```sql\n",
        "stop": ("```",),
    }
    return SamplingRequest(**{**values, **overrides})


def complete(*texts: str) -> Reply:
    """An answer with these completions, at 20 prompt tokens and 2 tokens each."""
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", "content": text},
        }
        for index, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 20, "completion_tokens": 2 * len(texts)}
    return Reply({"id": "x", "object": "chat.completion", "choices": choices, "usage": usage})


def refuse(message: str, *, status: int = 400, **error: Any) -> Reply:
    return Reply({"error": {"message": message, "type": "invalid_request_error", **error}}, status)


async def test_a_server_like_vllm_continues_the_answer_in_one_request() -> None:
    reply = complete("SELECT 1\n", "SELECT 2\n")
    with serve(tokenize=VLLM, v1__chat__completions=reply) as server:
        engine = build_engine(server)
        found = await engine.sample(build_request(k=2))
        await engine.close()
    assert found.texts == ("SELECT 1\n", "SELECT 2\n")
    assert (found.prompt_tokens, found.completion_tokens) == (20, 4)
    (body,) = server.bodies(CHAT)
    assert body["messages"][-1] == {"role": "assistant", "content": "```sql\n"}
    assert (body["continue_final_message"], body["add_generation_prompt"]) == (True, False)
    assert (body["n"], body["seed"], body["stop"], body["max_tokens"]) == (2, 7, ["```"], 50)


async def test_a_server_on_this_machine_is_not_asked_through_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with serve(tokenize=VLLM, v1__chat__completions=complete("SELECT 1\n")) as server:
        engine = build_engine(server)
        assert (await engine.sample(build_request())).texts == ("SELECT 1\n",)
        await engine.close()


async def test_other_servers_write_the_whole_answer_which_is_cut() -> None:
    whole = complete("<think>```sql\nno\n```</think>Here:\n```sql\nSELECT 1\n```\nDone.")
    with serve(v1__chat__completions=whole) as server:
        found = await build_engine(server).sample(build_request())
    assert found.texts == ("\nSELECT 1\n",)
    (body,) = server.bodies(CHAT)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    # "```" would end the answer where its block begins.
    assert {"stop", "continue_final_message"}.isdisjoint(body)


async def test_a_server_that_ignores_n_is_asked_singly_from_then_on() -> None:
    with serve(v1__chat__completions=complete("SELECT 1")) as server:
        engine = build_engine(server)
        for _ in range(2):
            found = await engine.sample(build_request(k=3))
            assert (len(found.texts), found.prompt_tokens) == (3, 60)
    assert [body.get("n") for body in server.bodies(CHAT)] == [3, *[None] * 5]
    seeds = [body["seed"] for body in server.bodies(CHAT)]
    assert sorted(seeds[:3]) == sorted(seeds[3:]) == [7, 8, 9]


@pytest.mark.parametrize(
    ("refused", "is_named", "asked"),
    [(("n",), True, 5), (("n",), False, 5), (("max_tokens", "temperature"), True, 4)],
)
async def test_what_a_server_refuses_is_left_out_from_then_on(
    refused: tuple[str, ...], is_named: bool, asked: int
) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        for name in refused:
            if name in body:
                return refuse("not supported", param=name if is_named else None)
        return complete(*["SELECT 1"] * body.get("n", 1))

    with serve(v1__chat__completions=answer) as server:
        engine = build_engine(server)
        for _ in range(2):
            assert len((await engine.sample(build_request(k=2))).texts) == 2
    bodies = server.bodies(CHAT)
    assert len(bodies) == asked
    assert bodies[-1].keys().isdisjoint(refused)
    assert ("max_completion_tokens" in bodies[-1]) is ("max_tokens" in refused)
    assert bodies[-1]["seed"] in (7, 8)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (refuse("No such key", status=401), SettingsError),
        (refuse("no model tiny", status=404), SettingsError),
        (refuse("slow down", status=429), EngineUnavailable),
        (refuse("oh", status=500), EngineUnavailable),
        (refuse("we do not like it"), EngineUnavailable),
        (refuse("too big", code="context_length_exceeded"), PromptTooLong),
        (refuse("This model's maximum context length is 9 tokens"), PromptTooLong),
        (Reply(b"<html>hello</html>"), EngineUnavailable),
        (Reply({"hello": "world"}), EngineUnavailable),
        (Reply({"choices": []}), EngineUnavailable),
        (Reply({"choices": [{"message": {"content": "x" * 999}}]}, cut=True), EngineUnavailable),
    ],
)
async def test_failures_become_our_errors(reply: Reply, error: type[QuorumError]) -> None:
    with serve(v1__chat__completions=reply) as server, pytest.raises(error) as raised:
        await build_engine(server).sample(build_request())
    assert raised.value.hint
    assert raised.value.__cause__ is not None


async def test_what_the_first_request_brought_is_kept_when_all_others_fail() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        return complete("SELECT 7") if body["seed"] == 7 else refuse("slow down", status=429)

    with serve(v1__chat__completions=answer) as server:
        found = await build_engine(server).sample(build_request(k=4))
    assert (found.texts, found.prompt_tokens) == (("SELECT 7",), 20)


async def test_a_server_that_does_not_answer_in_time() -> None:
    never = threading.Event()
    with serve(v1__chat__completions=Reply(wait=never)) as server:
        with pytest.raises(EngineUnavailable, match="within 100 ms"):
            await build_engine(server, timeout_ms=100).sample(build_request())
        never.set()


async def test_at_the_time_limit_single_requests_that_are_answered_stand_for_all() -> None:
    never = threading.Event()
    with serve(
        v1__chat__completions=[refuse("no n", param="n"), complete("SELECT 1"), Reply(wait=never)]
    ) as server:
        found = await build_engine(server).sample(build_request(k=3, time_limit_s=0.0))
        assert found.texts == ("SELECT 1",)
        never.set()


async def test_nobody_listens() -> None:
    with serve() as server:
        pass
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        await build_engine(server).sample(build_request())
    assert "cannot be reached" in dict(await build_engine(server).probe())["engine"]


async def test_a_cancelled_call_closes_its_connections() -> None:
    never = threading.Event()
    with serve(v1__chat__completions=Reply(wait=never)) as server:
        engine = build_engine(server)
        call = asyncio.create_task(engine.sample(build_request()))
        assert await wait_for(server.waits)
        assert await engine.requests_in_flight() == 1
        await cancel(call)
        assert await engine.requests_in_flight() == 0
        assert await wait_for(server.gone)


async def test_no_more_requests_at_a_time_than_allowed() -> None:
    lock, now, most = threading.Lock(), 0, 0

    def answer(body: dict[str, Any]) -> Reply:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        threading.Event().wait(0.05)
        with lock:
            now -= 1
        return complete("SELECT 1")

    with serve(v1__chat__completions=answer) as server:
        await build_engine(server, concurrency=2).sample(build_request(k=6))
    assert most == 2


async def test_tokens_are_counted_there_or_bounded_here() -> None:
    with serve(tokenize=VLLM) as server:
        assert await build_engine(server).count_tokens(("a", "b")) == (3, 3)
    # Others have a /tokenize of their own.
    with serve(tokenize=Reply({"tokens": []})) as server:
        assert await build_engine(server).count_tokens(("SELECT 1", "")) == (4, 0)


async def test_a_long_prompt_gets_the_room_that_is_left() -> None:
    long = Prompt("generate", (Message("user", "x" * 600),))
    counted: Answer = Reply({"count": 470, "max_model_len": 500})
    with serve(tokenize=counted, v1__chat__completions=complete("SELECT 1")) as server:
        await build_engine(server).sample(build_request(prompt=long))
        assert server.bodies(CHAT)[0]["max_tokens"] == 30
        whole = server.bodies("/tokenize")[-1]
        assert whole["messages"][-1]["content"] == "```sql\n"
    with serve(tokenize=Reply({"count": 501, "max_model_len": 500})) as server:
        engine = build_engine(server)
        with pytest.raises(PromptTooLong, match="has 501 tokens, the model takes 500"):
            await engine.sample(build_request(prompt=long))
    longer = Prompt("generate", (Message("user", "x" * 20_000),))
    with serve(v1__chat__completions=complete("SELECT 1")) as server:
        with pytest.raises(PromptTooLong):
            await build_engine(server).sample(build_request(prompt=longer))
        assert not server.bodies(CHAT)


async def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(v1__chat__completions=complete("SELECT 1")) as server:
        with pytest.raises(SettingsError, match="TINY_KEY is not set"):
            build_engine(server, api_key_env="TINY_KEY")
        monkeypatch.setenv("TINY_KEY", "secret")
        await build_engine(server, api_key_env="TINY_KEY").sample(build_request())
    assert {request.headers["authorization"] for request in server.asked} == {"Bearer secret"}


async def test_the_probe_looks_for_the_model() -> None:
    with serve(v1__models=Reply({"data": [{"id": "tiny:latest"}]})) as server:
        assert await build_engine(server).probe() == (("engine", ""),)
    with serve(v1__models=Reply({"data": [{"id": "other"}]})) as server:
        assert (
            "no model 'tiny' there, but other" in dict(await build_engine(server).probe())["engine"]
        )
