"""The vLLM engine over an AsyncLLM that only plays one: time limit, progress."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from generation.engines.vllm_engine import VllmEngine
from nl2sql.progress import observed_by
from nl2sql.types import Message, Progress, Prompt, SamplingRequest
from tests.nl2sql.test_progress import Notes

PROMPT = Prompt("generate", (Message("user", "q"),))


@dataclass
class Output:
    """One completion, as far as it has come."""

    index: int
    text: str
    finish_reason: str | None = None
    token_ids: list[int] = field(default_factory=lambda: [1, 2])
    cumulative_logprob: float = -1.0


class FakeAsyncLLM:
    """Gives the steps; None: no more comes."""

    def __init__(self, steps: Sequence[Output | None]) -> None:
        self._steps = steps
        self.samplings: list[Any] = []
        self.adapters: list[Any] = []

    async def generate(
        self, _: Any, sampling: Any, __: str, lora_request: Any
    ) -> AsyncIterator[Any]:
        self.samplings.append(sampling)
        self.adapters.append(lora_request)
        for step in self._steps:
            if step is None:
                await asyncio.sleep(60)
            else:
                yield SimpleNamespace(outputs=[step])


@pytest.fixture(autouse=True)
def _vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names that the engine imports: the library itself takes half a minute."""
    kinds = SimpleNamespace(FINAL_ONLY="final", CUMULATIVE="steps")
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


def build_engine(*steps: Output | None) -> tuple[VllmEngine, FakeAsyncLLM]:
    engine, played = VllmEngine.__new__(VllmEngine), FakeAsyncLLM(steps)
    engine._engine = played
    engine._chat = SimpleNamespace(encode=lambda *_: [1, 2, 3])  # type: ignore[assignment]
    engine._max_model_len = 100
    engine._adapter = "adapter"
    return engine, played


def build_request(k: int, time_limit_s: float | None = None) -> SamplingRequest:
    return SamplingRequest(PROMPT, k, 0, 0.7, 50, time_limit_s=time_limit_s)


async def test_all_completions_come_at_once_where_nobody_wants_less() -> None:
    engine, played = build_engine(Output(1, "b", "stop"), Output(0, "a", "stop"))
    assert (await engine.sample(build_request(2))).texts == ("a", "b")
    assert played.samplings[0].output_kind == "final"


async def test_an_adapter_is_for_the_prompts_that_ask_for_sql() -> None:
    engine, played = build_engine(Output(0, "a", "stop"))
    for purpose in ("generate", "answer"):
        await engine.sample(replace(build_request(1), prompt=replace(PROMPT, purpose=purpose)))
    assert played.adapters == ["adapter", None]


async def test_at_the_time_limit_there_are_the_completions_that_are_finished() -> None:
    engine, played = build_engine(Output(0, "a"), Output(1, "b", "stop"), None)
    found = await engine.sample(build_request(2, time_limit_s=0.05))
    assert (found.texts, found.completion_tokens, found.logprobs) == (("b",), 4, (-0.5,))
    assert played.samplings[0].output_kind == "steps"


async def test_an_observer_is_told_how_far_it_is() -> None:
    notes = Notes()
    engine, _ = build_engine(Output(0, "a"), Output(0, "ab", "stop"))
    with observed_by(notes):
        await engine.sample(build_request(1))
    assert notes.told == [Progress("", 0, 1, 3, 3, 2), Progress("", 1, 1, 3, 3, 2)]
