"""Where exported folders keep the special tokens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generation.engines.openvino_tokenizer import read_marks
from nl2sql.errors import ModelCorrupt

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
