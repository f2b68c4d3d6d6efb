"""From ten questions of the demo to an adapter that both engines load."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from sqlglot import exp

from data.benchmarks.load import load_benchmark
from generation.engines.openvino_engine import OpenVinoEngine
from generation.engines.vllm_engine import VllmEngine
from generation.models.adapter_conversion import convert_adapter
from generation.models.adapters import PEFT_ADAPTER, check_peft_adapter
from generation.models.files import sha256_of
from generation.tuning.examples import read_examples
from generation.tuning.training import TrainingOptions
from generation.tuning.variation import choose_variation
from nl2sql.errors import SettingsError
from nl2sql.protocols import Engine
from nl2sql.settings import ModelSettings
from nl2sql.sql.parsing import parse_one
from nl2sql.types import Message, Prompt, SamplingRequest
from serve_app.composition.wiring import Wiring
from serve_app.operations.benchmarks import select
from serve_app.operations.tuning import CURVE, TuningPlan, tune
from serve_app.reporting import Silence
from tests.generation.tuning.conftest import tiny_model

__all__ = ["tiny_model"]
pytestmark = [pytest.mark.vllm, pytest.mark.model]


async def test_ten_questions_become_an_adapter_for_both_engines(
    wiring: Wiring, tiny_model: tuple[Path, Path], tmp_path: Path
) -> None:
    file, folder = tiny_model
    loaded = load_benchmark("demo_erp", configured=wiring.settings.databases)
    chosen = tuple(example.id for example in loaded.examples[:10])
    plan = TuningPlan(
        model=str(folder),
        benchmark=loaded.name,
        benchmark_sha256=loaded.sha256,
        questions=chosen,
        apart_from=(),
        vary=False,
        held_out=0.0,
        start=None,
        training=TrainingOptions(learning_rate=2e-2, epochs=4.0),
        strength=1.0,
        licence="ours",
        command="quorumsql tune demo_erp",
    )
    run = tmp_path / "run"
    adapter = await tune(wiring.settings, select(loaded, chosen), plan, run, Silence())

    examples = read_examples(run / "examples.jsonl")
    assert 5 <= len(examples) <= 10
    assert {example.id for example in examples} <= {*chosen}
    assert all("Question: " in example.messages[-1].content for example in examples)
    manifest = json.loads((adapter / "manifest.json").read_text())
    assert manifest["examples"] == len(examples)
    for name, digest in manifest["sha256"].items():
        assert sha256_of(adapter / name) == digest
    assert "quorumsql tune demo_erp" in (adapter / "README.md").read_text()
    assert (run / CURVE).with_suffix(".svg").read_text().startswith("<svg")

    # Under other names the queries are the same ones.
    seed = next(
        at for at in range(99) if choose_variation("demo_erp", "postgres", {}, at).case != "same"
    )
    options = dataclasses.replace(plan.training, epochs=0.1, seed=seed)
    varied = dataclasses.replace(plan, vary=True, training=options)
    await tune(wiring.settings, select(loaded, chosen), varied, tmp_path / "varied", Silence())
    others = {each.id: each for each in read_examples(tmp_path / "varied" / "examples.jsonl")}
    pairs = [(each, others[each.id]) for each in examples if each.id in others]
    assert len(pairs) >= 3
    assert all(one.messages != other.messages for one, other in pairs)
    assert any(one.sql != other.sql for one, other in pairs)
    for _, other in pairs:
        tables = {table.name for table in parse_one(other.sql, "postgres").find_all(exp.Table)}
        assert tables
        assert all(name in other.messages[-1].content for name in tables)

    # Another strength trains nothing again: it halves one factor of each pair.
    full = load_file(adapter / PEFT_ADAPTER)
    steps = (run / CURVE).read_text()
    half = dataclasses.replace(plan, strength=0.5)
    await tune(wiring.settings, select(loaded, chosen), half, run, Silence())
    assert (run / CURVE).read_text() == steps
    weaker = load_file(adapter / PEFT_ADAPTER)
    assert weaker.keys() == full.keys()
    for name, weights in full.items():
        factor = 0.5 if "lora_B" in name else 1.0
        assert np.allclose(weaker[name], weights * factor, rtol=1e-3, atol=1e-6), name
    assert any(weights.any() for name, weights in full.items() if "lora_B" in name)
    assert "multiplied by 0.500" in (adapter / "README.md").read_text()

    # The same command again trains nothing, and another one is not mixed with it.
    written = (adapter / "adapter.gguf").stat().st_mtime_ns
    await tune(wiring.settings, select(loaded, chosen), plan, run, Silence())
    assert (run / CURVE).read_text() == steps
    assert (adapter / "adapter.gguf").stat().st_mtime_ns > written
    longer = dataclasses.replace(plan, held_out=0.5)
    with pytest.raises(SettingsError, match="another training"):
        await tune(wiring.settings, loaded, longer, run, Silence())

    for start, rank, wrong in (
        (adapter, 4, "has rank 8, not 4"),
        (tmp_path, 8, "holds no adapter"),
    ):
        begun = dataclasses.replace(
            plan, start=start, training=dataclasses.replace(plan.training, rank=rank)
        )
        with pytest.raises(SettingsError, match=f"--start: .*{wrong}"):
            await tune(wiring.settings, loaded, begun, tmp_path / "begun", Silence())
    assert not (tmp_path / "begun").exists()

    # The GGUF file alone holds all that the other form needs.
    converted = tmp_path / "converted"
    converted.mkdir()
    convert_adapter(adapter / "adapter.gguf", converted)
    for form in (adapter, converted):
        check_peft_adapter(form, folder)
    first, second = (load_file(form / PEFT_ADAPTER) for form in (adapter, converted))
    assert first.keys() == second.keys()
    assert all((first[name] == second[name]).all() for name in first)

    settings = ModelSettings(max_model_len=4096, kv_cache_gib=1)
    for used in (None, adapter):
        await check_engine(OpenVinoEngine(file, settings, adapter=used), used is not None)
    await check_engine(VllmEngine(folder, settings, adapter=converted), True)


async def check_engine(engine: Engine, has_adapter: bool) -> None:
    """The adapter changes what is written where SQL is asked for, and nothing else."""
    messages = (Message("user", "How many orders are there?"),)

    async def write(purpose: str) -> tuple[str, ...]:
        request = SamplingRequest(
            Prompt(purpose, messages), k=1, seed=0, temperature=0.0, max_tokens=8
        )
        return (await engine.sample(request)).texts

    try:
        tuned, other, again = [await write(each) for each in ("generate", "answer", "generate")]
        assert tuned == again
        assert (tuned != other) == has_adapter
    finally:
        await engine.close()  # type: ignore[attr-defined]
