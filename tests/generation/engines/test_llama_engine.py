"""The llama.cpp engine over a server that only plays one, and one test with the real thing."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from generation.engines.llama_engine import LlamaEngine
from generation.engines.llama_room import Room
from generation.engines.llama_server import (
    LlamaArguments,
    check_processor,
    check_system,
    start_server,
)
from generation.models.forms import GGUF, find_weights
from generation.models.store import ModelStore
from nl2sql.cache_counts import read_lookups
from nl2sql.errors import EngineUnavailable, PromptTooLong
from nl2sql.progress import observed_by
from nl2sql.settings import ModelSettings
from nl2sql.types import Message, Progress, Prompt, QuestionEvent, SamplingRequest
from tests.conftest import ROOT

TEMPLATE = (
    "{% for m in messages %}<s>{{ m['role'] }}:{{ m['content'] }}<e>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant:{% endif %}"
)
MARKS = {"<s>": 1, "<e>": 2}
SETTINGS = ModelSettings(max_model_len=512)


def encode(text: str, *, has_marks: bool) -> list[int]:
    """A token a character, but for marks."""
    ids = []
    while text:
        mark = next((mark for mark in MARKS if has_marks and text.startswith(mark)), text[0])
        ids.append(MARKS.get(mark, ord(mark[0])))
        text = text[len(mark) :]
    return ids


class FakeServer:
    """Stands for the process. ``failures`` are the times that it dies in a completion.

    ``script`` is what it writes instead of completions of its own: pairs of (index of a completion,
    whether that ends it); None: nothing more comes.
    """

    def __init__(self, failures: int = 0, script: Sequence[tuple[int, bool] | None] = ()) -> None:
        self._script = script
        self.client = httpx.AsyncClient(
            transport=httpx.MockTransport(self._answer), base_url="http://llama"
        )
        self.is_running = True
        self.history: list[dict[str, Any]] = []
        self.stopped = False
        self._failures = failures

    def wait_for_death(self) -> None:
        """It is dead at once."""

    def kill(self) -> None:
        self.is_running = False

    def stop(self) -> None:
        self.stopped = True

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/props":
            marks = {"bos_token": "", "eos_token": "<e>"}
            return httpx.Response(200, json={"chat_template": TEMPLATE, **marks})
        body = json.loads(request.content)
        if request.url.path == "/tokenize":
            content = body["content"]
            ids: list[int] = []
            for part in content if isinstance(content, list) else [content]:
                has_marks = body["parse_special"]
                ids += [part] if isinstance(part, int) else encode(part, has_marks=has_marks)
            return httpx.Response(200, json={"tokens": ids})
        if self._failures:
            self._failures -= 1
            self.is_running = False
            raise httpx.ReadError("gone")
        self.history.append(body)
        await asyncio.sleep(0)
        if body["temperature"] > 1:
            return httpx.Response(400, json={"error": {"message": "too hot"}})
        if self._script:
            return httpx.Response(200, content=self._play())
        # What a server sends while a prompt is long, and a letter that ends lines elsewhere.
        lines = [":\n\n"]
        for number, logprob in enumerate((-1.0, -2.0), start=1):
            for index in reversed(range(body["n"])):
                piece = {
                    "index": index,
                    "content": f"{body['seed']}\u2028" if number == 1 else str(index),
                    "tokens_predicted": number,
                    "stop": number == 2,
                    "completion_probabilities": [{"logprob": logprob}],
                    **({"timings": {"cache_n": 7, "prompt_n": 2}} if number == 2 else {}),
                }
                lines.append(f"data: {json.dumps(piece, ensure_ascii=False)}\n\n")
        if body["temperature"] == 1:
            lines[1:] = ['error: {"message": "no room"}\n\n']
        return httpx.Response(200, text="".join(lines))

    async def _play(self) -> AsyncIterator[bytes]:
        progress = {"total": 9, "processed": 4}
        yield _render(
            {"index": 0, "content": "", "tokens_predicted": 0, "prompt_progress": progress}
        )
        for number, step in enumerate(self._script, start=1):
            if step is None:
                await asyncio.sleep(60)
                continue
            index, stop = step
            yield _render(
                {"index": index, "content": "x", "tokens_predicted": number, "stop": stop}
            )


def _render(piece: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(piece)}\n\n".encode()


class Starter:
    """Hands out servers in order."""

    def __init__(self, *servers: FakeServer) -> None:
        self.queue = list(servers)
        self.history: list[LlamaArguments] = []

    def __call__(self, arguments: LlamaArguments) -> Any:
        self.history.append(arguments)
        if not self.queue:
            raise EngineUnavailable("llama.cpp does not start.")
        return self.queue.pop(0)


def build_engine(*servers: FakeServer) -> LlamaEngine:
    return LlamaEngine(Path("tiny.gguf"), SETTINGS, Starter(*servers))


def build_request(
    content: str = "q", *, k: int = 1, temperature: float = 0.8, time_limit_s: float | None = None
) -> SamplingRequest:
    prompt = Prompt("generate", (Message("user", content),))
    return SamplingRequest(prompt, k, 7, temperature, 9, "```", (";",), time_limit_s=time_limit_s)


async def test_tokens_that_the_server_had_read_are_counted_once_a_prompt() -> None:
    def read() -> list[int]:
        lookups = read_lookups()
        return [lookups.get(("prompt_tokens", result), 0) for result in ("hit", "miss")]

    before = read()
    await build_engine(FakeServer()).sample(build_request("a", k=3))
    assert [after - was for after, was in zip(read(), before, strict=True)] == [7, 2]


async def test_marks_are_marks_in_the_template_only() -> None:
    server = FakeServer()
    await build_engine(server).sample(build_request("a<s>b"))
    (body,) = server.history
    plain = encode("a<s>b", has_marks=False)
    before = encode("<s>user:", has_marks=True)
    assert body["prompt"] == before + plain + encode("<e><s>assistant:```", has_marks=True)


async def test_completions_come_in_order_with_their_log_probabilities() -> None:
    server = FakeServer()
    completions = await build_engine(server).sample(build_request(k=3))
    assert completions.texts == ("7\u20280", "7\u20281", "7\u20282")
    assert completions.logprobs == (-1.5, -1.5, -1.5)
    assert completions.completion_tokens == 6
    (body,) = server.history
    assert (body["n"], body["n_predict"], body["stop"]) == (3, 9, [";"])
    assert completions.prompt_tokens == len(body["prompt"])


async def test_more_completions_than_slots_are_made_in_turns_with_seeds_of_their_own() -> None:
    server = FakeServer()
    completions = await build_engine(server).sample(build_request(k=18))
    assert [(body["n"], body["seed"]) for body in server.history] == [(16, 7), (2, 23)]
    assert len(set(completions.texts)) == 18


async def test_texts_are_counted_apart() -> None:
    engine = build_engine(FakeServer())
    assert await engine.count_tokens(("abc", "", "<e>")) == (3, 0, 3)
    assert await engine.count_tokens(()) == ()


async def test_a_prompt_longer_than_the_context_is_refused() -> None:
    with pytest.raises(PromptTooLong, match=r"takes 512"):
        await build_engine(FakeServer()).sample(build_request("x" * 600))


async def test_what_a_dead_server_was_asked_is_asked_again() -> None:
    first, second = FakeServer(failures=1), FakeServer()
    engine = build_engine(first, second)
    completions = await engine.sample(build_request())
    assert completions.texts == ("7\u20280",)


async def test_a_request_that_ends_two_servers_is_given_up() -> None:
    engine = build_engine(FakeServer(failures=1), FakeServer(failures=1), FakeServer())
    with pytest.raises(EngineUnavailable, match="died twice"):
        await engine.sample(build_request())
    assert await engine.probe() == (("engine", "The engine has died and is restarted."),)
    await engine.count_tokens(("It was started.",))
    assert await engine.probe() == (("engine", ""),)


async def test_a_server_that_does_not_start_again_is_told() -> None:
    engine = build_engine(FakeServer(failures=1))
    with pytest.raises(EngineUnavailable, match="does not start"):
        await engine.sample(build_request())
    assert await engine.probe() == (("engine", "llama.cpp does not start."),)


@pytest.mark.parametrize(("temperature", "reason"), [(2.0, "too hot"), (1.0, "no room")])
async def test_what_the_server_refuses_is_told_before_and_while_it_answers(
    temperature: float, reason: str
) -> None:
    engine = build_engine(FakeServer())
    with pytest.raises(EngineUnavailable, match=reason):
        await engine.sample(build_request(temperature=temperature))


async def test_at_the_time_limit_there_are_the_completions_that_are_finished() -> None:
    engine = build_engine(FakeServer(script=((0, False), (2, True), (0, True), (1, False), None)))
    found = await engine.sample(build_request(k=3, time_limit_s=0.1))
    assert found.texts == ("xx", "x")
    # What was begun is counted: it was paid for.
    assert found.completion_tokens == 3 + 4 + 2


async def test_after_the_time_limit_it_goes_on_to_the_first_completion() -> None:
    engine = build_engine(FakeServer(script=((0, False), (1, False), (1, True), None)))
    found = await engine.sample(build_request(k=2, time_limit_s=0.0))
    assert found.texts == ("xx",)


async def test_a_completion_of_a_server_that_died_ends_nothing() -> None:
    class Dying(FakeServer):
        async def _play(self) -> AsyncIterator[bytes]:
            yield _render({"index": 0, "content": "lost", "tokens_predicted": 1, "stop": True})
            self.is_running = False
            raise httpx.ReadError("gone")

    engine = build_engine(Dying(script=(None,)), FakeServer(script=((1, True), (0, True))))
    found = await engine.sample(build_request(k=2, time_limit_s=60))
    assert found.texts == ("x", "x")


@pytest.mark.parametrize(
    ("k", "script", "finished"),
    [
        # Two of four are done after 2 and 3 tokens: 19 are not too many, 20 are.
        (4, [(0, 2), (1, 3), (2, -19), (3, -19), (2, 19), (3, -20)], 3),
        # The longer of the finished counts: 30 allow 53.
        (4, [(0, 2), (1, 30), (2, -53), (3, -54), (2, -54)], 2),
        # One is not half of four, and one finished completion is nothing to compare with.
        (4, [(0, 2), (1, 100), (2, 101), (3, 102)], 4),
        (2, [(0, 2), (1, 100)], 2),
        (1, [(0, 100)], 1),
    ],
)
async def test_what_is_far_longer_than_the_first_half_is_given_up(
    k: int, script: list[tuple[int, int]], finished: int
) -> None:
    """``script``: an index and the tokens after which it ends; below zero it has not ended."""

    class Wordy(FakeServer):
        async def _play(self) -> AsyncIterator[bytes]:
            for index, tokens in script:
                stop = tokens > 0
                yield _render(
                    {"index": index, "content": "x", "tokens_predicted": abs(tokens), "stop": stop}
                )
            if any(tokens < 0 for _, tokens in script):
                await asyncio.sleep(60)

    engine = build_engine(Wordy(script=(None,)))
    async with asyncio.timeout(5):
        found = await engine.sample(build_request(k=k))
    assert len(found.texts) == finished


async def test_turns_after_the_time_limit_are_left_out() -> None:
    server = FakeServer(script=[(index, True) for index in range(16)])
    found = await build_engine(server).sample(build_request(k=40, time_limit_s=0.0))
    assert 1 <= len(found.texts) <= 16


async def test_an_observer_is_told_how_far_it_is() -> None:
    told: list[QuestionEvent] = []

    class Notes:
        def observe(self, event: QuestionEvent) -> None:
            told.append(event)

    server = FakeServer(script=((0, False), (1, True), (0, True)))
    with observed_by(Notes()):
        await build_engine(server).sample(build_request(k=2))
    assert server.history[0]["return_progress"]
    assert isinstance(told[0], Progress)
    prompt = told[0].prompt_tokens
    assert told == [
        Progress("", 0, 2, 0, prompt),
        Progress("", 0, 2, 4, prompt),
        Progress("", 0, 2, prompt, prompt, 1),
        Progress("", 1, 2, prompt, prompt, 3),
        Progress("", 2, 2, prompt, prompt, 5),
    ]


async def test_the_speed_is_measured_once() -> None:
    server = FakeServer()
    engine = LlamaEngine(Path("tiny.gguf"), ModelSettings(max_model_len=6144), Starter(server))
    speed, again = await asyncio.gather(engine.speed(), engine.speed())
    assert speed is again
    assert len(server.history) == 3


async def test_closing_ends_the_process() -> None:
    server = FakeServer()
    await build_engine(server).close()
    assert server.stopped


async def test_the_room_is_given_to_who_came_first() -> None:
    room = Room(tokens=10, slots=2)
    order = []

    async def work(name: str, tokens: int) -> None:
        async with room.take(tokens, 1):
            order.append(name)
            await asyncio.sleep(0)

    # The small one could begin beside the first, but the large one came before it.
    await asyncio.gather(work("first", 6), work("large", 10), work("small", 1))
    assert order == ["first", "large", "small"]


async def test_who_is_cancelled_leaves_no_room_taken() -> None:
    room = Room(tokens=10, slots=1)

    async def work() -> None:
        async with room.take(10, 1):
            await asyncio.sleep(60)

    holding, waiting = asyncio.ensure_future(work()), asyncio.ensure_future(work())
    await asyncio.sleep(0)
    waiting.cancel()
    holding.cancel()
    await asyncio.gather(holding, waiting, return_exceptions=True)
    async with asyncio.timeout(1), room.take(10, 1):
        pass


async def test_more_than_all_room_waits_for_all_of_it() -> None:
    async with asyncio.timeout(1), Room(tokens=10, slots=1).take(11, 1):
        pass


def test_a_processor_without_avx2_is_told() -> None:
    check_processor(frozenset({"sse4_2", "avx2"}))
    check_processor(frozenset())
    with pytest.raises(EngineUnavailable, match="AVX2"):
        check_processor(frozenset({"sse4_2"}))


def test_a_system_without_llama_cpps_library_is_told() -> None:
    check_system()
    with pytest.raises(EngineUnavailable, match=r"libnothing\.so") as caught:
        check_system("libnothing.so.1")
    assert "libgomp1" in caught.value.hint


BROKEN: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no_gguf": (lambda weights: _write(weights.parent / "x.gguf", b"nonsense" * 9), "magic"),
    "nothing": (lambda weights: weights.parent / "none.gguf", "No such file"),
}


def _write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(("build", "reason"), BROKEN.values(), ids=BROKEN)
def test_weights_that_cannot_be_loaded_are_told(
    build: Callable[[Path], Path], reason: str, tmp_path: Path
) -> None:
    arguments = LlamaArguments(build(tmp_path / "w.gguf"), 512, 1, 1, 0)
    with pytest.raises(EngineUnavailable, match=reason):
        start_server(arguments)


@pytest.fixture(scope="module")
def weights() -> Path:
    folder = ModelStore(ROOT / ".quorumsql" / "models", GGUF).find("qwen2.5-coder-0.5b-instruct")
    assert folder is not None, "run `make weights` first"
    return find_weights(folder)


@pytest.mark.model
def test_a_truncated_file_is_told(weights: Path, tmp_path: Path) -> None:
    with weights.open("rb") as file:
        part = _write(tmp_path / "part.gguf", file.read(20_000_000))
    with pytest.raises(EngineUnavailable, match="corrupted or incomplete"):
        start_server(LlamaArguments(part, 512, 1, 1, 0))


@pytest.mark.model
def test_a_context_larger_than_memory_is_told(weights: Path) -> None:
    with pytest.raises(EngineUnavailable, match="insufficient memory"):
        start_server(LlamaArguments(weights, 100_000_000, 1, 1, 0))


@pytest.mark.model
async def test_the_real_model_answers_repeats_itself_and_survives_its_death(weights: Path) -> None:
    engine = LlamaEngine(weights, ModelSettings())
    try:
        prompt = Prompt("generate", (Message("user", "CREATE TABLE t (id INT); How many rows?"),))
        request = SamplingRequest(prompt, 2, 7, 0.0, 24, "```sql\n", ("```",))
        first = await engine.sample(request)
        assert "count" in first.texts[0].lower()
        assert len(first.texts) == len(first.logprobs) == 2
        assert (await engine.sample(request)).texts == first.texts
        speed = await engine.speed()
        assert min(speed.prompt_tokens_per_s, speed.answer_tokens_per_s) > 0
        # The time limit is over before the first; the others go no further than that one.
        hasty = replace(request, k=4, temperature=0.8, max_tokens=200, time_limit_s=0.0)
        assert 1 <= len((await engine.sample(hasty)).texts) <= 4
        # Nobody's completion is worked on: the next one does not wait for 2,000 tokens.
        endless = SamplingRequest(prompt, 4, 7, 0.8, 2000)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(engine.sample(endless), 2)
        async with asyncio.timeout(60):
            while await engine.requests_in_flight():  # noqa: ASYNC110 - of another process
                await asyncio.sleep(0.1)
        running = asyncio.ensure_future(engine.sample(request))
        os.kill(engine.pid, signal.SIGKILL)
        assert (await running).texts == first.texts
    finally:
        await engine.close()
