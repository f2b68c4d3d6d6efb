"""Encodes chat messages so that only the model's chat template can open a turn.

A question, a comment or a cell may contain a special token such as ``<|im_start|>``. Encoded with
the rest of the prompt, it would open a turn. Therefore every such marker in a message is split
after its first character, and its parts are encoded separately, so that the model reads plain text.
A prompt without markers gets the same ids as without splitting.

Does not protect models whose template marks turns with plain text (Llama 2's ``[INST]``).
"""

from __future__ import annotations

import re
from typing import Any

from nl2sql.types import Prompt

# Marks the places to split while the template is rendered; from the private use area.
_CUT = "\ue000"


class ChatEncoder:
    """Encodes for one tokenizer of the transformers library."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        marks = {str(mark) for mark in tokenizer.added_tokens_decoder.values()}
        # Runs of spaces, which some vocabularies contain, are harmless.
        found = sorted((mark for mark in marks if len(mark.strip()) > 1), key=len, reverse=True)
        # A lookahead also finds markers that begin within another one.
        self._mark = re.compile(f"(?={'|'.join(map(re.escape, found))})") if found else None

    def encode(self, prompt: Prompt, answer_start: str = "") -> list[int]:
        """The ids of the chat, up to and including ``answer_start``."""
        cut = choose_cut([message.content for message in prompt.messages])
        chat = [
            {"role": message.role, "content": self._cut_marks(message.content, cut)}
            for message in prompt.messages
        ]
        text: str = self._tokenizer.apply_chat_template(
            chat, tokenize=False, add_generation_prompt=True
        )
        return self._encode_pieces(f"{text}{answer_start}".split(cut))

    def count(self, text: str) -> int:
        """The number of tokens of a text within a message."""
        cut = choose_cut([text])
        return len(self._encode_pieces(self._cut_marks(text, cut).split(cut)))

    def _cut_marks(self, text: str, cut: str) -> str:
        if self._mark is None:
            return text
        starts = [found.start() + 1 for found in self._mark.finditer(text)]
        return cut.join(
            text[start:end] for start, end in zip([0, *starts], [*starts, None], strict=True)
        )

    def _encode_pieces(self, pieces: list[str]) -> list[int]:
        ids: list[int] = []
        for piece in pieces:
            ids += self._tokenizer.encode(piece, add_special_tokens=False)
        return ids


def choose_cut(texts: list[str]) -> str:
    """A text that occurs in none of the texts.

    >>> len(choose_cut(["no such sign", "two: \\ue000\\ue000"]))
    3
    """
    cut = _CUT
    while any(cut in text for text in texts):
        cut += _CUT
    return cut
