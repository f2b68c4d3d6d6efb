"""The engine over a server that only plays one, and tests with the real thing."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generation.engines.openvino_engine import OpenVinoEngine
from generation.engines.openvino_server import OpenVinoArguments, start_server
from generation.models.forms import OPENVINO
from generation.models.store import ModelStore
from nl2sql.errors import EngineUnavailable, PromptTooLong
from nl2sql.progress import observed_by
from nl2sql.settings import ModelSettings
from nl2sql.types import Message, Progress, Prompt, SamplingRequest
from tests.conftest import ROOT
from tests.generation.openvino import FakeServer, Starter, Step, write_folder
from tests.nl2sql.test_progress import Notes

MARK = 1


class FakeTokenizer:
    """A token a character, but for the mark ``<s>``."""

    added_tokens_decoder: Mapping[str, str] = {"1": "<s>"}

    def apply_chat_template(self, chat: Any, *, tokenize: bool, add_generation_prompt: bool) -> str:
        return "".join(f"<s>{turn['content']}" for turn in chat) + "<s>"

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return [ord(sign) for sign in text.replace("<s>", chr(MARK))]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path)


def build_engine(folder: Path, *servers: FakeServer | Exception) -> OpenVinoEngine:
    tokenizer: Any = FakeTokenizer()
    settings = ModelSettings(max_model_len=512)
    return OpenVinoEngine(folder, settings, Starter(*servers), lambda _: tokenizer)


def build_request(
    content: str = "q", *, k: int = 1, time_limit_s: float | None = None
) -> SamplingRequest:
    prompt = Prompt("generate", (Message("user", content),))
    return SamplingRequest(prompt, k, 7, 0.8, 9, "```", (";",), time_limit_s=time_limit_s)


async def test_a_request_has_marks_in_the_template_only(folder: Path) -> None:
    server = FakeServer()
    found = await build_engine(folder, server).sample(build_request("a<s>b", k=3))
    assert found.texts == ("xxx",) * 3
    assert found.completion_tokens == 9
    (body,) = server.history
    assert body["ids"] == [MARK, *map(ord, "a<s>b"), MARK, *map(ord, "```")]
    assert (body["seed"], body["stop"], body["max_tokens"]) == (7, [";"], 9)


async def test_a_prompt_longer_than_the_context_is_refused(folder: Path) -> None:
    with pytest.raises(PromptTooLong, match=r"takes 512"):
        await build_engine(folder, FakeServer()).sample(build_request("x" * 600))


async def test_what_a_dead_server_was_asked_is_asked_again(folder: Path) -> None:
    script = [(1, 9, True), (0, 1, True)]
    engine = build_engine(folder, FakeServer(script, dies=True), FakeServer(script))
    found = await engine.sample(build_request(k=2, time_limit_s=60))
    assert found.texts == ("x", "x" * 9)
    assert found.completion_tokens == 10


async def test_a_probe_restarts_a_dead_server_and_tells_why_it_does_not_start(folder: Path) -> None:
    first, second = FakeServer(), FakeServer()
    engine = build_engine(folder, first, OSError("no memory"), second)
    assert await engine.probe() == (("engine", ""),)
    first.is_running = False
    for told in ("has died and is restarted", "no memory"):
        assert told in dict(await engine.probe())["engine"]
        await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
    assert await engine.probe() == (("engine", ""),)
    assert (await engine.sample(build_request())).texts == ("xxx",)
    await engine.close()
    assert (first.stopped, second.stopped) == (True, True)


async def test_many_who_ask_start_one_which_goes_on_if_one_of_them_leaves(folder: Path) -> None:
    dead, server = FakeServer(), FakeServer()
    engine = build_engine(folder, dead, server)
    dead.is_running = False
    leaving = asyncio.create_task(engine.sample(build_request()))
    await asyncio.sleep(0)
    leaving.cancel()
    found = await asyncio.gather(*(engine.sample(build_request()) for _ in range(8)))
    assert {drawn.texts for drawn in found} == {("xxx",)}
    assert len(server.history) == 8


async def test_what_fails_for_good_is_told(folder: Path) -> None:
    for servers, told in (
        ((FakeServer(dies=True), FakeServer(dies=True), FakeServer()), "died twice"),
        ((FakeServer(dies=True), EngineUnavailable("It does not start.")), "does not start"),
        ((FakeServer(dies=True), OSError("no memory")), "does not start: no memory"),
        ((FakeServer(error="no room"),), "no room"),
    ):
        engine = build_engine(folder, *servers)
        with pytest.raises(EngineUnavailable, match=told):
            await engine.sample(build_request())
    (folder / "openvino_model.xml").write_text("nonsense")
    with pytest.raises(EngineUnavailable, match="does not start"):
        start_server(OpenVinoArguments(folder, 512, 1, 1))


@pytest.mark.parametrize(
    ("script", "seconds", "texts", "tokens"),
    [
        # What was begun is counted: it was paid for.
        (((0, 1, False), (2, 2, True), (0, 1, True), (1, 1, False)), 0.0, ("xx",), 3),
        # There is at least one completion.
        (((0, 1, False), (1, 1, False), (1, 1, True), None), 0.0, ("xx",), 3),
        (((0, 1, True), (1, 1, True), (2, 1, True)), 60.0, ("x", "x", "x"), 3),
    ],
)
async def test_at_the_time_limit_there_are_the_completions_that_are_finished(
    script: Sequence[Step], seconds: float, texts: tuple[str, ...], tokens: int, folder: Path
) -> None:
    engine = build_engine(folder, FakeServer(script))
    found = await engine.sample(build_request(k=3, time_limit_s=seconds))
    assert (found.texts, found.completion_tokens) == (texts, tokens)


@pytest.mark.parametrize(
    ("k", "script", "finished"),
    [
        # Two of four are done after 2 and 3 tokens: 19 are not too many, 20 are.
        (4, [(0, 2), (1, 3), (2, -19), (3, -20), (2, 1)], 3),
        (4, [(0, 2), (1, 3), (2, -20), (3, -20)], 2),
        # One is not half of four, and one finished completion is nothing to compare with.
        (4, [(0, 2), (1, 100), (2, 101), (3, 102)], 4),
        (2, [(0, 2), (1, 100)], 2),
    ],
)
async def test_what_is_far_longer_than_the_first_half_is_given_up(
    k: int, script: list[tuple[int, int]], finished: int, folder: Path
) -> None:
    """``script``: an index and its further tokens; below zero they do not end it."""
    steps: list[Step] = [(index, abs(tokens), tokens > 0) for index, tokens in script]
    hanging = [None] if any(tokens < 0 for _, tokens in script) else []
    async with asyncio.timeout(5):
        engine = build_engine(folder, FakeServer([*steps, *hanging]))
        found = await engine.sample(build_request(k=k))
    assert len(found.texts) == finished


async def test_an_observer_is_told_how_far_it_is(folder: Path) -> None:
    notes = Notes()
    with observed_by(notes):
        await build_engine(folder, FakeServer()).sample(build_request(k=2))
    assert isinstance(notes.told[0], Progress)
    prompt = notes.told[0].prompt_tokens
    assert notes.told == [
        Progress("", 0, 2, 0, prompt),
        Progress("", 1, 2, prompt, prompt, 3),
        Progress("", 2, 2, prompt, prompt, 6),
    ]


@pytest.fixture(scope="module")
def weights() -> Path:
    found = ModelStore(ROOT / ".quorumsql" / "models", OPENVINO).find("qwen2.5-coder-0.5b-instruct")
    assert found is not None, "run `make weights` first"
    return found


@pytest.mark.model
async def test_the_real_model_answers_and_survives_its_death(weights: Path) -> None:
    engine = OpenVinoEngine(weights, ModelSettings())
    try:
        prompt = Prompt("generate", (Message("user", "CREATE TABLE t (id INT); How many rows?"),))
        request = SamplingRequest(prompt, 2, 7, 0.0, 24, "```sql\n", ("```",))
        first = await engine.sample(request)
        assert "count" in first.texts[0].lower()
        assert "```" not in first.texts[0]
        assert len(first.texts) == 2
        varied = replace(request, k=4, temperature=0.8)
        # Texts of any length are counted exactly, and marks in them are plain text.
        short, mark, long = await engine.count_tokens(("a b c", "<|im_start|>", "x y" * 30_000))
        assert (short, long) == (3, 60_000)
        assert mark > 1
        running = [asyncio.ensure_future(engine.sample(varied)) for _ in range(8)]
        await asyncio.sleep(0.2)
        os.kill(engine.pid, signal.SIGKILL)
        assert all([len((await each).texts) > 0 for each in running])
    finally:
        await engine.close()


@pytest.mark.model
async def test_a_process_that_stands_still_is_replaced_and_one_that_rests_is_not(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = "generation.engines.openvino_server._MOST_SILENCE_S"
    engine = OpenVinoEngine(weights, ModelSettings())
    try:
        request = replace(build_request(), time_limit_s=None)
        assert (await engine.sample(request)).texts
        first = engine.pid
        with monkeypatch.context() as patch:
            patch.setattr(limit, 1.0)
            assert await engine.requests_in_flight() == 0
            await asyncio.sleep(1.1)
            assert await engine.probe() == (("engine", ""),)
            os.kill(first, signal.SIGSTOP)
            # Whoever asks does not wait as long as that, so nobody is there when the time is over.
            with suppress(TimeoutError):
                await asyncio.wait_for(engine.sample(request), 0.2)
            await asyncio.sleep(1)
        assert (await engine.sample(request)).texts
        assert engine.pid != first
    finally:
        await engine.close()


@pytest.mark.model
async def test_the_process_ends_with_its_parent(weights: Path) -> None:
    server = start_server(OpenVinoArguments(weights, 512, 1, 1))
    await server.disconnect()  # as the system does for a parent that was killed
    server.stop()
    assert not server.is_running
