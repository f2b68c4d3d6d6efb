"""The tokenizer of a model in OpenVINO's form, with the interface that ``ChatEncoder`` needs.

Encodes in this process, because the one that runs the model answers only between its steps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nl2sql.errors import ModelCorrupt

_TOKENIZER_CONFIG, _TOKENIZER = "tokenizer_config.json", "tokenizer.json"


class OpenVinoTokenizer:
    """Loaded from the model's folder in a fraction of a second."""

    def __init__(self, folder: Path) -> None:
        import openvino_genai

        self._tokenizer = openvino_genai.Tokenizer(str(folder))
        self.added_tokens_decoder: Mapping[str, str] = read_marks(folder)

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


def read_marks(folder: Path) -> Mapping[str, str]:
    """The tokens that a text can contain as marks, by number.

    Since transformers 5, exported folders have them in ``tokenizer.json`` alone. Raises
    ModelCorrupt if they are nowhere: a text could then imitate the marks of turns.
    """
    try:
        config = json.loads((folder / _TOKENIZER_CONFIG).read_text("utf-8"))
        if (named := config.get("added_tokens_decoder")) is not None:
            return {number: token["content"] for number, token in named.items()}
        tokens = json.loads((folder / _TOKENIZER).read_text("utf-8"))["added_tokens"]
        return {str(token["id"]): token["content"] for token in tokens}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelCorrupt(
            f"The tokenizer in {folder} does not say its special tokens ({error!r}).",
            hint="Name a folder with a model in OpenVINO's form, or a GGUF file.",
        ) from error
