"""What is checked of a folder before its model is loaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generation.engines.openvino_model import (
    check_model,
    check_no_adapter,
    count_cache_tokens,
    measure_free_memory,
    read_marks,
)
from generation.models.files import Manifest, write_manifest
from nl2sql.errors import ModelCorrupt, SettingsError
from nl2sql.settings import ModelSettings
from tests.generation.openvino import write_folder

SETTINGS = ModelSettings(max_model_len=1024, kv_cache_gib=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path)


def test_the_memory_is_that_of_weights_cache_and_process(folder: Path) -> None:
    room = check_model(folder, SETTINGS, 2**30)
    assert room.needed_bytes(1024) == 1000 + 256 * 1024 * 4 + 300 * 2**20


@pytest.mark.parametrize(
    ("longest", "free_bytes", "told", "hint"),
    [
        (1024, 1000 + 300 * 2**20 + 256 * 600 * 4, "GiB of memory", "512 or less"),
        (4096, 2**40, "trained for 2,048", "2048 or less"),
    ],
    ids=["little_memory", "beyond_the_training"],
)
def test_a_context_that_does_not_fit_is_told_with_what_fits(
    longest: int, free_bytes: int, told: str, hint: str, folder: Path
) -> None:
    with pytest.raises(SettingsError, match=told) as caught:
        check_model(folder, ModelSettings(max_model_len=longest), free_bytes)
    assert hint in caught.value.hint


def test_weights_that_are_cut_off_are_told(folder: Path) -> None:
    told = {"name": "m", "source": "s"}
    write_manifest(folder, Manifest(**told, sha256={}, weight_bytes=1000))
    check_model(folder, SETTINGS, 2**40)
    (folder / "openvino_model.bin").write_bytes(bytes(999))
    with pytest.raises(ModelCorrupt, match="999 bytes in place of 1,000"):
        check_model(folder, SETTINGS, 2**40)


def test_a_folder_that_describes_no_model_is_told(folder: Path) -> None:
    (folder / "config.json").write_text("{}")
    with pytest.raises(ModelCorrupt, match="does not describe"):
        check_model(folder, SETTINGS, 2**40)


def test_the_cache_has_the_memory_of_the_settings_or_four_contexts(folder: Path) -> None:
    assert count_cache_tokens(folder, SETTINGS) == 2**30 // 256
    long = ModelSettings(max_model_len=2**21, kv_cache_gib=1)
    assert count_cache_tokens(folder, long) == 2**23


def test_an_adapter_is_refused(tmp_path: Path) -> None:
    check_no_adapter(None)
    with pytest.raises(SettingsError, match="SQL alone"):
        check_no_adapter(tmp_path)


def test_the_free_memory_is_that_of_the_container(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("active_file 100\ninactive_file 50\nanon 9\n")
    assert measure_free_memory(tmp_path) == 450
    assert measure_free_memory(tmp_path / "none") > 450


END = {"content": "<|im_end|>", "special": True}


def test_marks_are_found_where_transformers_writes_them(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|im_end|>"}))
    (tmp_path / "tokenizer.json").write_text(json.dumps({"added_tokens": [{"id": 2, **END}]}))
    assert read_marks(tmp_path) == {"2": "<|im_end|>"}
    named = {"added_tokens_decoder": {"7": END}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(named))
    assert read_marks(tmp_path) == {"7": "<|im_end|>"}


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"added_tokens_decoder": []}'])
def test_a_folder_without_them_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text(content)
    with pytest.raises(ModelCorrupt, match="does not say its special tokens"):
        read_marks(tmp_path)
