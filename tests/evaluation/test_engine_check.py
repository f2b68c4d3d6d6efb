"""The checks of an engine find each fault that they look for; its load is counted rightly."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import psutil
import pytest

from evaluation.engine_check.behaviour import check_behaviour, write_task
from evaluation.engine_check.load import LoadGenerator, Shape
from generation.engines import OpenEngine
from generation.engines.openvino_engine import OpenVinoEngine
from generation.engines.vllm_engine import VllmEngine
from generation.models.forms import OPENVINO, SAFETENSORS, Form
from generation.models.store import ModelStore
from nl2sql.errors import EngineUnavailable
from nl2sql.settings import ModelSettings
from nl2sql.types import Completions, SamplingRequest
from tests.conftest import ROOT
from tests.fakes.model import StubEngine
from tests.generation.models.test_adapters import write_adapter

WORDS = "one two three four five six seven eight nine ten".split()
STEP_S = 0.0002


@dataclass
class RandomEngine(StubEngine):
    """Writes random words, one a step; ``fault`` names what it does wrong."""

    fault: str = ""
    running: int = 0

    def __post_init__(self) -> None:
        self.known: set[str] = set()

    async def sample(self, request: SamplingRequest) -> Completions:
        """Raises ValueError as its fault."""
        if self.fault == "raises":
            raise ValueError("out of memory")
        prompt = request.prompt.messages[0].content
        if prompt not in self.known:
            await asyncio.sleep(len(prompt) * STEP_S / 100)
        elif self.fault == "no cache":
            await asyncio.sleep(len(prompt) * STEP_S / 20)
        self.known.add(prompt)
        limit = None if self.fault == "no limit" else request.time_limit_s
        tasks = [asyncio.create_task(self._write(request, each)) for each in range(request.k)]
        try:
            finished, _ = await asyncio.wait(tasks, timeout=limit)
        finally:
            if self.fault != "goes on":
                for task in tasks:
                    task.cancel()
        texts = [task.result() for task in tasks if task in finished]
        texts = texts[1:] if self.fault == "one less" else texts
        tokens = sum(len(text.split()) for text in texts)
        return Completions(tuple(texts), len(prompt.split()), tokens)

    async def _write(self, request: SamplingRequest, index: int) -> str:
        seed = "" if self.fault == "no seed" else request.seed + index
        draw = Random(f"{request.prompt.messages[0].content} {seed}")
        draw = Random() if self.fault == "no seed" else draw
        most = min(request.max_tokens, 400) if self.fault == "no limit" else request.max_tokens
        text = ""
        for _ in range(most):
            self.running += 1
            # As on a card, more answers take longer.
            try:
                await asyncio.sleep(STEP_S * self.running)
            finally:
                self.running -= 1
            text += f"{draw.choice(WORDS)}{draw.randint(0, 99)} "
            for stop in () if self.fault == "no stop" else request.stop:
                if stop in text:
                    return text[: text.index(stop)]
        return text


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "failed"),
    [
        ("", set()),
        ("one less", {"K texts"}),
        ("no seed", {"the seed repeats", "stop texts"}),
        ("no stop", {"stop texts", "the time limit"}),
        ("no cache", {"the prefix cache"}),
        ("no limit", {"the time limit"}),
        ("goes on", {"cancelling"}),
        ("raises", {"K texts", "the seed repeats", "stop texts", "the prefix cache"}),
    ],
)
async def test_each_fault_fails_its_check(fault: str, failed: set[str]) -> None:
    checks = check_behaviour(RandomEngine(fault))
    found = {check.name async for check in checks if not check.passed}
    assert failed <= found
    assert found or not fault
    assert fault or not found


async def test_all_questions_and_tokens_of_a_load_are_counted() -> None:
    shape = Shape(modules=2, shared_tokens=40, own_tokens=20, answer_tokens=5)
    generator = await LoadGenerator.build(RandomEngine(), shape)

    found = await generator.measure(3, 4, 0.05)

    assert found.questions >= 4
    assert found.answer_tokens == found.questions * 3 * 5
    assert found.per_minute == pytest.approx(60 * found.questions / found.seconds)
    assert 0 < found.p50_s <= found.p95_s <= found.seconds


def write_safetensors(gguf: Path, into: Path) -> None:
    """The hub has these weights for vLLM; CI reaches only the package index, which has a GGUF."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source: dict[str, Any] = {"gguf_file": gguf.name, "local_files_only": True}
    model: Any = AutoModelForCausalLM.from_pretrained(
        str(gguf.parent),
        dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
        **source,
    )
    # The model is still marked as quantised, which would prevent saving it.
    model.hf_quantizer, model.is_quantized = None, False
    model.save_pretrained(str(into))
    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), **source)
    tokenizer.eos_token = "<|im_end|>"
    tokenizer.save_pretrained(str(into))


FROM_GGUF = replace(SAFETENSORS, convert=write_safetensors)


def open_vllm(folder: Path, settings: ModelSettings) -> OpenEngine:
    adapter = write_adapter(Path(tempfile.mkdtemp()) / "adapter", inputs=896, outputs=128)
    return VllmEngine(folder, settings, adapter=adapter)


async def check_adapter_and_death(engine: OpenEngine) -> None:
    request = build_request(max_tokens=16)
    tuned = replace(request, prompt=replace(request.prompt, purpose="generate"))
    assert (await engine.sample(request)).texts != (await engine.sample(tuned)).texts
    await engine.check_health()
    task = asyncio.create_task(engine.sample(build_request(max_tokens=1000)))
    await asyncio.sleep(1)
    for process in psutil.Process().children():
        if "EngineCore" in " ".join(process.cmdline()):
            process.kill()
    for asked in (task, engine.check_health()):
        with pytest.raises(EngineUnavailable):
            await asked


@pytest.mark.model
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("build", "form"),
    [
        (OpenVinoEngine, OPENVINO),
        pytest.param(open_vllm, FROM_GGUF, marks=pytest.mark.vllm),
    ],
)
async def test_the_engines_do_what_the_pipeline_needs(
    build: Callable[[Path, ModelSettings], OpenEngine], form: Form
) -> None:
    """On the package index's weights, no hub needed; what depends on the time is left out."""
    folder = ModelStore(ROOT / ".quorumsql" / "models", form).pull("qwen2.5-coder-0.5b-instruct")
    engine = build(folder, ModelSettings(max_model_len=2048))
    checks = []
    async for check in check_behaviour(engine):
        checks.append(check)
        if check.name == "stop texts":
            break
    task = asyncio.create_task(engine.sample(build_request(max_tokens=1000)))
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait([task])
    running = await engine.requests_in_flight()
    if isinstance(engine, VllmEngine):
        await check_adapter_and_death(engine)
    await engine.close()

    assert [check for check in checks if not check.passed] == []
    assert running == 0


def build_request(max_tokens: int) -> SamplingRequest:
    return SamplingRequest(write_task("cancel"), 4, 1, temperature=1.0, max_tokens=max_tokens)
