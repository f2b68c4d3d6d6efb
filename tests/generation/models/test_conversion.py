"""The checks around the conversion; the conversion itself needs weights.

`test_a_pulled_model_is_ready` looks at the real result where a pull has left one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from generation.models.conversion import check_chat_format, convert_gguf
from generation.models.forms import SAFETENSORS
from generation.models.store import ModelStore
from nl2sql.errors import ModelCorrupt, ModelError
from tests.conftest import ROOT

MODELS = ROOT / ".quorumsql" / "models"


@dataclass
class FakeTokenizer:
    chat_template: str | None = "{{ messages }}"
    eos_token: str | None = "<|im_end|>"
    rendered: str = "<|im_start|>user\n?<|im_end|>\n<|im_start|>assistant\n"

    def apply_chat_template(self, turns: object, **options: object) -> str:
        return self.rendered


def test_a_chat_template_that_ends_its_turns_passes() -> None:
    check_chat_format(FakeTokenizer(), "tiny.gguf")


@pytest.mark.parametrize(
    "tokenizer",
    [
        FakeTokenizer(chat_template=None),
        FakeTokenizer(eos_token=None),
        FakeTokenizer(eos_token="<|endoftext|>"),
    ],
)
def test_a_model_that_would_never_stop_is_refused(tokenizer: FakeTokenizer) -> None:
    with pytest.raises(ModelCorrupt, match=r"tiny\.gguf"):
        check_chat_format(tokenizer, "tiny.gguf")


@pytest.mark.vllm
def test_what_is_no_gguf_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(b"not a model")
    (tmp_path / "into").mkdir()
    with pytest.raises(ModelError, match=r"^tiny\.gguf could not be converted"):
        convert_gguf(tmp_path / "tiny.gguf", tmp_path / "into")


@pytest.mark.vllm
@pytest.mark.model
def test_a_pulled_model_is_ready() -> None:
    """On the weights that the set-up of ``make test-all`` fetches."""
    import transformers

    folder = ModelStore(MODELS, SAFETENSORS).find("qwen2.5-coder-0.5b-instruct")
    assert folder is not None, "run `make weights-vllm` first"
    config = json.loads((folder / "config.json").read_text())
    generation = json.loads((folder / "generation_config.json").read_text())
    assert "quantization_config" not in config
    assert config["dtype"] == "bfloat16"
    assert generation["eos_token_id"] == [151645, 151643]
    assert not {"temperature", "repetition_penalty"} & set(generation)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    assert tokenizer.eos_token == "<|im_end|>"
    turns = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    assert tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True) == (
        "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n"
    )
