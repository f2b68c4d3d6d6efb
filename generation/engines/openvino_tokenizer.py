"""The tokenizer of a model in OpenVINO's form, with the interface that ``ChatEncoder`` needs.

Encodes in this process, because the one that runs the model answers only between its steps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TOKENIZER_CONFIG = "tokenizer_config.json"


class OpenVinoTokenizer:
    """Loaded from the model's folder in a fraction of a second."""

    def __init__(self, folder: Path) -> None:
        import openvino_genai

        self._tokenizer = openvino_genai.Tokenizer(str(folder))
        config = json.loads((folder / TOKENIZER_CONFIG).read_text("utf-8"))
        self.added_tokens_decoder: Mapping[str, str] = {
            number: token["content"] for number, token in config["added_tokens_decoder"].items()
        }

    def apply_chat_template(self, chat: Any, *, tokenize: bool, add_generation_prompt: bool) -> str:
        """The chat as text."""
        text: str = self._tokenizer.apply_chat_template(
            chat, add_generation_prompt=add_generation_prompt
        )
        return text

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """The ids of a text; halves of surrogate pairs are replaced."""
        if not text:
            return []
        whole = text.encode("utf-8", "replace").decode()
        ids: list[int] = (
            self._tokenizer.encode(whole, add_special_tokens=add_special_tokens)
            .input_ids.data[0]
            .tolist()
        )
        return ids

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of the tokens, without special ones."""
        text: str = self._tokenizer.decode(list(tokens)) if tokens else ""
        return text
