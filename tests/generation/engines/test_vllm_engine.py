"""The vLLM engine over an AsyncLLM that only plays one: requests, time limit, progress."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from generation.engines.vllm_engine import VllmEngine
from nl2sql.errors import EngineUnavailable
from nl2sql.progress import observed_by
from nl2sql.types import Message, Progress, Prompt, SamplingRequest
from tests.nl2sql.test_progress import Notes

PROMPT = Prompt("generate", (Message("user", "q"),))


@dataclass
class Output:
    """One finished completion."""

    text: str
    token_ids: list[int] = field(default_factory=lambda: [1, 2])


class FakeAsyncLLM:
    """Answers the requests in their order, or raises; None: never."""

    errored = stands_still = False

    def __init__(self, outputs: Sequence[Output | Exception | None]) -> None:
        self._outputs = list(outputs)
        self.samplings: list[Any] = []
        self.adapters: list[Any] = []
        self.aborted = 0

    async def generate(
        self, _: Any, sampling: Any, __: str, lora_request: Any
    ) -> AsyncIterator[Any]:
        self.samplings.append(sampling)
        self.adapters.append(lora_request)
        output = self._outputs[len(self.samplings) - 1]
        try:
            if output is None:
                await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.aborted += 1
            raise
        if isinstance(output, Exception):
            raise output
        yield SimpleNamespace(outputs=[output])

    async def is_sleeping(self) -> None:
        await asyncio.sleep(60 if self.stands_still else 0)


@pytest.fixture(autouse=True)
def _vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names that the engine imports: the library itself takes half a minute."""
    kinds = SimpleNamespace(FINAL_ONLY="final")
    names: dict[str, dict[str, Any]] = {
        "vllm": {"SamplingParams": SimpleNamespace, "TokensPrompt": dict},
        "vllm.sampling_params": {"RequestOutputKind": kinds},
        "vllm.v1": {},
        "vllm.v1.engine": {},
        "vllm.v1.engine.exceptions": {"EngineDeadError": ConnectionError},
    }
    for name, values in names.items():
        module = ModuleType(name)
        vars(module).update(values)
        monkeypatch.setitem(sys.modules, name, module)


def build_engine(*outputs: Output | Exception | None) -> tuple[VllmEngine, FakeAsyncLLM]:
    engine, played = VllmEngine.__new__(VllmEngine), FakeAsyncLLM(outputs)
    engine._engine = played
    engine._chat = SimpleNamespace(encode=lambda *_: [1, 2, 3])  # type: ignore[assignment]
    engine._max_model_len = 100
    engine._adapter = "adapter"
    return engine, played


def build_request(k: int, time_limit_s: float | None = None) -> SamplingRequest:
    return SamplingRequest(PROMPT, k, 0, 0.7, 50, time_limit_s=time_limit_s)


async def test_k_completions_are_k_requests_with_seeds_of_their_own() -> None:
    engine, played = build_engine(Output("a"), Output("b"))
    found = await engine.sample(build_request(2))
    assert (found.texts, found.prompt_tokens, found.completion_tokens) == (("a", "b"), 3, 4)
    assert [sampling.seed for sampling in played.samplings] == [0, 1]
    assert {sampling.output_kind for sampling in played.samplings} == {"final"}


async def test_an_adapter_is_for_the_prompts_that_ask_for_sql() -> None:
    engine, played = build_engine(Output("a"), Output("a"))
    for purpose in ("generate", "answer"):
        await engine.sample(replace(build_request(1), prompt=replace(PROMPT, purpose=purpose)))
    assert played.adapters == ["adapter", None]


async def test_at_the_time_limit_finished_completions_remain_and_others_are_aborted() -> None:
    engine, played = build_engine(None, Output("b"), None)
    found = await engine.sample(build_request(3, time_limit_s=0.05))
    assert (found.texts, found.completion_tokens, played.aborted) == (("b",), 2, 2)


async def test_cancelling_aborts_all_requests() -> None:
    engine, played = build_engine(None, None)
    task = asyncio.create_task(engine.sample(build_request(2)))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert played.aborted == 2


async def test_a_dead_engine_is_unavailable_but_what_it_had_finished_remains() -> None:
    engine, _ = build_engine(ConnectionError(), Output("b"), ConnectionError())
    assert (await engine.sample(build_request(2))).texts == ("b",)
    with pytest.raises(EngineUnavailable, match="died"):
        await engine.sample(build_request(1))


async def test_only_an_engine_whose_process_answers_is_healthy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("generation.engines.vllm_engine._LOOK_S", 0.01)
    engine, played = build_engine()
    await engine.check_health()
    played.stands_still = True
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(engine.check_health(), 0.1)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    played.errored = True
    with pytest.raises(EngineUnavailable):
        await engine.check_health()
    assert dict(await engine.probe())["engine"]


async def test_an_observer_is_told_how_many_completions_are_finished() -> None:
    notes = Notes()
    engine, _ = build_engine(Output("a"), Output("b"))
    with observed_by(notes):
        await engine.sample(build_request(2))
    assert notes.told == [Progress("", 1, 2, 3, 3, 2), Progress("", 2, 2, 3, 3, 4)]
