"""Which engine and model ``auto`` mean here, and what is known of processor, memory and GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from generation.engines.choice import (
    check_processor,
    choose_cpu_model,
    choose_properties,
    count_cores,
    measure_memory,
    read_cpu_flags,
    read_gpu_names,
    resolve_model,
)
from generation.models.registry import load_registry
from nl2sql.errors import EngineUnavailable
from nl2sql.settings import ModelSettings

SMALL, LARGE = "qwen2.5-coder-0.5b-instruct", "qwen2.5-coder-1.5b-instruct"


@pytest.mark.parametrize(
    ("flags", "cores", "gib", "name"),
    [
        ("avx2 avx512_vnni avx512_bf16", 2, 16, LARGE),
        ("avx2 avx512_vnni", 2, 16, SMALL),
        ("avx2 avx512_vnni", 4, 16, LARGE),
        ("avx2", 4, 16, SMALL),
        ("avx2", 8, 16, LARGE),
        ("avx2 amx_bf16", 8, 6, SMALL),
        ("", 1, 1, SMALL),
    ],
)
def test_the_largest_that_is_fast_enough_and_fits(
    flags: str, cores: int, gib: int, name: str
) -> None:
    entries = load_registry().values()
    assert choose_cpu_model(entries, frozenset(flags.split()), cores, gib * 2**30) == name


def test_only_auto_is_replaced() -> None:
    chosen = resolve_model(ModelSettings(), on_gpu=False)
    assert chosen.engine == "openvino"
    assert chosen.name in (SMALL, LARGE)
    named = ModelSettings(engine="vllm", name="org/model")
    assert resolve_model(named, on_gpu=False) == named
    on_gpu = resolve_model(ModelSettings(engine="vllm"), on_gpu=True)
    assert on_gpu.name == "qwen2.5-coder-7b-instruct"


def test_the_machine_is_its_container(tmp_path: Path) -> None:
    machine = count_cores(tmp_path), measure_memory(tmp_path)
    (tmp_path / "cpu.max").write_text("100000 100000\n")
    (tmp_path / "memory.max").write_text("1000\n")
    assert (count_cores(tmp_path), measure_memory(tmp_path)) == (1, 1000)
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert (count_cores(tmp_path), measure_memory(tmp_path)) == machine


def test_the_driver_names_the_gpus(tmp_path: Path) -> None:
    assert read_gpu_names(tmp_path / "none") == ()
    for number, name in enumerate(("NVIDIA H200", "NVIDIA L4")):
        folder = tmp_path / f"0000:0{number}:00.0"
        folder.mkdir()
        (folder / "information").write_text(f"Model: \t\t {name}\nIRQ:   \t\t 16\n")
    assert read_gpu_names(tmp_path) == ("NVIDIA H200", "NVIDIA L4")


def test_the_processor_decides_whether_and_how_openvino_computes() -> None:
    check_processor(frozenset({"sse4_2", "avx2"}))
    check_processor(frozenset())
    with pytest.raises(EngineUnavailable, match="AVX2"):
        check_processor(frozenset({"sse4_2"}))
    threads = {"INFERENCE_NUM_THREADS": 2}
    exact = {**threads, "INFERENCE_PRECISION_HINT": "f32"}
    wide = frozenset({"avx2", "avx512f", "avx512_bf16"})
    assert choose_properties(wide, 2) == threads
    assert choose_properties(wide - {"avx512_bf16"}, 2) == exact
    narrow = choose_properties(frozenset({"avx2"}), 2)
    assert narrow == {**exact, "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0}


def test_instructions_that_onednn_may_not_use_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("flags : avx2 avx512f avx512_bf16\n")
    monkeypatch.setattr("generation.engines.choice._CPU_INFO", info)
    for limit, left in (
        ("AVX2", {"avx2"}),
        ("AVX512_CORE_VNNI", {"avx2", "avx512f"}),
        ("", {"avx2", "avx512f", "avx512_bf16"}),
    ):
        monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", limit)
        read_cpu_flags.cache_clear()
        assert read_cpu_flags() == left
    read_cpu_flags.cache_clear()
