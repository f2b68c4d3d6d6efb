"""Which engine runs here, and what the GPUs are called."""

from __future__ import annotations

from pathlib import Path

from generation.engines.choice import choose_engine, has_gpu, read_gpu_names
from nl2sql.settings import ModelSettings


def test_the_default_is_openvino_where_there_is_no_gpu() -> None:
    if not has_gpu():
        assert choose_engine(ModelSettings()) == "openvino"
    assert choose_engine(ModelSettings(engine="vllm")) == "vllm"


def test_the_driver_names_the_gpus(tmp_path: Path) -> None:
    assert read_gpu_names(tmp_path / "none") == ()
    for number, name in enumerate(("NVIDIA H200", "NVIDIA L4")):
        folder = tmp_path / f"0000:0{number}:00.0"
        folder.mkdir()
        (folder / "information").write_text(f"Model: \t\t {name}\nIRQ:   \t\t 16\n")
    assert read_gpu_names(tmp_path) == ("NVIDIA H200", "NVIDIA L4")
