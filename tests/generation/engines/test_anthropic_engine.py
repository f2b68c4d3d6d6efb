"""The engine for Anthropic's messages against a server on loopback that speaks as documented.

What it shares with the engine for OpenAI's protocol is tested there.
"""

from __future__ import annotations

from typing import Any

import pytest

from generation.engines.anthropic_engine import AnthropicEngine
from nl2sql.errors import EngineUnavailable, PromptTooLong, QuorumError, SettingsError
from nl2sql.settings import ModelSettings
from nl2sql.types import Message, Prompt
from tests.generation.engines.loopback import Loopback, Reply, serve
from tests.generation.engines.test_openai_engine import build_request

MESSAGES = "/v1/messages"


class Impatient(AnthropicEngine):
    """Tries once."""

    RETRIES = 0


def build_engine(server: Loopback, **settings: Any) -> AnthropicEngine:
    values = {"base_url": f"{server.url}/v1", "name": "tiny", **settings}
    return Impatient(ModelSettings(engine="anthropic", **values))


def complete(text: str) -> Reply:
    thoughts = {"type": "thinking", "thinking": "hm", "signature": "x"}
    content = [thoughts, {"type": "text", "text": text}]
    usage = {"input_tokens": 20, "output_tokens": 3}
    return Reply({"type": "message", "role": "assistant", "content": content, "usage": usage})


def refuse(kind: str, message: str, status: int) -> Reply:
    return Reply({"type": "error", "error": {"type": kind, "message": message}}, status)


async def test_k_requests_with_the_system_message_apart() -> None:
    whole = complete("Sure:\n```sql\nSELECT 1\n```\nDone.")
    with serve(v1__messages=whole) as server:
        engine = build_engine(server)
        found = await engine.sample(build_request(k=3, temperature=1.3, stop=("```", ";")))
        await engine.close()
    assert found.texts == ("\nSELECT 1\n",) * 3
    assert (found.prompt_tokens, found.completion_tokens) == (60, 9)
    body = server.bodies(MESSAGES)[0]
    assert body == {
        "model": "tiny",
        "max_tokens": 50,
        "system": "You write SQL.",
        "messages": [{"role": "user", "content": "How many?"}],
        "temperature": 1.0,
        # "```" would end the answer where its block begins.
        "stop_sequences": [";"],
    }
    assert len(server.bodies(MESSAGES)) == 3


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (refuse("authentication_error", "invalid x-api-key", 401), SettingsError),
        (refuse("request_too_large", "too large", 413), PromptTooLong),
        (refuse("invalid_request_error", "prompt is too long: 9 > 8", 400), PromptTooLong),
        (Reply({"hello": "world"}), EngineUnavailable),
    ],
)
async def test_failures_become_our_errors(reply: Reply, error: type[QuorumError]) -> None:
    with serve(v1__messages=reply) as server, pytest.raises(error) as raised:
        await build_engine(server).sample(build_request())
    assert raised.value.hint
    assert raised.value.__cause__ is not None


async def test_a_long_prompt_is_counted_by_the_server() -> None:
    long = build_request(prompt=Prompt("generate", (Message("user", "x" * 6000),)))
    with serve(
        v1__messages__count_tokens=[Reply({"input_tokens": 500}), Reply({"input_tokens": 9999})],
        v1__messages=complete("SELECT 1"),
    ) as server:
        engine = build_engine(server, max_model_len=520)
        await engine.sample(long)
        assert server.bodies(MESSAGES)[0]["max_tokens"] == 20
        with pytest.raises(PromptTooLong, match="has 9999 tokens"):
            await engine.sample(long)
    assert await engine.count_tokens(("SELECT 1",)) == (4,)


async def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "somebody else's")
    with serve(v1__messages=complete("SELECT 1")) as server:
        await build_engine(server).sample(build_request())
        monkeypatch.setenv("TINY_KEY", "secret")
        await build_engine(server, api_key_env="TINY_KEY").sample(build_request())
    assert [request.headers["authorization"] for request in server.asked] == [
        "Bearer none",
        "Bearer secret",
    ]


async def test_the_probe_looks_for_the_model() -> None:
    with serve(v1__models__tiny=Reply({"id": "tiny", "type": "model"})) as server:
        assert await build_engine(server).probe() == (("engine", ""),)
    with serve() as server:
        assert "answers 404" in dict(await build_engine(server).probe())["engine"]
