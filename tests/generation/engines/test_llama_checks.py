"""What keeps llama.cpp from running a model is said before anything is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from generation.engines.llama_checks import CONTEXTS, check_model, measure_free_memory
from nl2sql.errors import ModelCorrupt, SettingsError
from nl2sql.settings import ModelSettings
from tests.generation.gguf_files import ADAPTER, PAIR, TINY, Value, write_gguf

PLENTY = 2**40
SHORT = ModelSettings(max_model_len=512)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "tiny.gguf")


def test_what_fits_is_counted(weights: Path) -> None:
    room = check_model(weights, ModelSettings(max_model_len=2048), PLENTY)
    assert room.token_bytes == 2 * 2 * (16 + 16) * 2
    assert room.needed_bytes(2048) - room.needed_bytes(0) == 256 * 2048 * CONTEXTS


def test_a_context_longer_than_trained_is_told_with_the_longest(weights: Path) -> None:
    with pytest.raises(SettingsError, match=r"trained for 2,048.*Set model.max_model_len to 2048"):
        check_model(weights, ModelSettings(max_model_len=4096), PLENTY)


def test_a_context_larger_than_memory_is_told_with_what_fits(tmp_path: Path) -> None:
    metadata = {**TINY, "tiny.context_length": 10**6, "tiny.block_count": 200}
    weights = write_gguf(tmp_path / "tiny.gguf", metadata)
    with pytest.raises(SettingsError, match=r"needs 95\.\d GiB .* 8\.0 GiB are free") as caught:
        check_model(weights, ModelSettings(max_model_len=10**6), 8 * 2**30)
    longest = int(caught.value.hint.split()[3])
    check_model(weights, ModelSettings(max_model_len=longest), 8 * 2**30)
    with pytest.raises(SettingsError):
        check_model(weights, ModelSettings(max_model_len=longest + 512), 8 * 2**30)


def test_weights_larger_than_memory_are_told(weights: Path) -> None:
    with pytest.raises(SettingsError, match="take a smaller model"):
        check_model(weights, ModelSettings(max_model_len=512), 2**20)


@pytest.mark.parametrize("key", ["tiny.attention.head_count", "tiny.embedding_length"])
def test_what_the_file_does_not_tell_is_left_to_llama_cpp(key: str, tmp_path: Path) -> None:
    metadata = {name: value for name, value in TINY.items() if name != key}
    weights = write_gguf(tmp_path / "tiny.gguf", metadata)
    assert check_model(weights, ModelSettings(max_model_len=512), 2**30).token_bytes is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"general.type": "adapter"}, "holds no model, but kind 'adapter'"),
        ({"general.architecture": ""}, "holds no model"),
        ({"tokenizer.chat_template": ""}, "has no chat template"),
    ],
)
def test_what_is_no_instruct_model_is_told(
    changes: dict[str, Value], message: str, tmp_path: Path
) -> None:
    weights = write_gguf(tmp_path / "tiny.gguf", {**TINY, **changes})
    with pytest.raises(ModelCorrupt, match=message):
        check_model(weights, ModelSettings(max_model_len=512), PLENTY)


def test_an_adapter_of_this_model_is_taken(weights: Path, tmp_path: Path) -> None:
    adapter = write_gguf(tmp_path / "a.gguf", ADAPTER, PAIR)
    check_model(weights, SHORT, PLENTY, adapter)


WRONG: dict[str, tuple[Mapping[str, Value], Mapping[str, tuple[int, ...]], str]] = {
    "architecture": ({**ADAPTER, "general.architecture": "huge"}, PAIR, "is huge, not tiny"),
    "input": (ADAPTER, {**PAIR, "blk.0.attn_q.weight.lora_a": (96, 8)}, "another shape"),
    "output": (ADAPTER, {**PAIR, "blk.0.attn_q.weight.lora_b": (8, 33)}, "another shape"),
    "layer": (ADAPTER, {"blk.9.attn_q.weight.lora_a": (64, 8)}, r"no blk\.9\.attn_q\.weight"),
    "whole model": (dict(TINY), {}, "is not a LoRA adapter"),
}


@pytest.mark.parametrize(("metadata", "tensors", "message"), WRONG.values(), ids=WRONG)
def test_an_adapter_for_another_model_is_told(
    metadata: Mapping[str, Value],
    tensors: Mapping[str, tuple[int, ...]],
    message: str,
    weights: Path,
    tmp_path: Path,
) -> None:
    adapter = write_gguf(tmp_path / "a.gguf", metadata, tensors)
    with pytest.raises(SettingsError, match=message):
        check_model(weights, SHORT, PLENTY, adapter)


def test_a_missing_adapter_is_told(weights: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"model\.adapter: .*none\.gguf.* No such file"):
        check_model(weights, SHORT, PLENTY, tmp_path / "none.gguf")


def test_free_memory_is_the_containers_where_that_is_less(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("4000\n")
    (tmp_path / "memory.stat").write_text("anon 3000\nactive_file 300\ninactive_file 200\n")
    assert measure_free_memory(tmp_path) == 1500
    (tmp_path / "memory.max").write_text("max\n")
    assert measure_free_memory(tmp_path) == pytest.approx(
        psutil.virtual_memory().available, abs=2**31
    )
