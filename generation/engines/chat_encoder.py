"""Chat messages as the token ids of one model, where only its own template opens a turn.

A question, a comment or a cell may spell a mark such as ``<|im_start|>``. Encoded with the rest of
the prompt it would become the very token that opens a turn. So every mark in a message is cut after
its first character and its halves are encoded apart: the model reads the same letters as plain
text. A prompt without marks has the same ids as if it were encoded whole.

Does not help a model whose template marks its turns in plain text (Llama 2's ``[INST]``).
"""

from __future__ import annotations

import re
from typing import Any

from nl2sql.types import Prompt

# Stands where a text is cut, as long as the template is rendered; of the private use area.
_CUT = "\ue000"


class ChatEncoder:
    """Encodes for one tokenizer of the transformers library."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        marks = {str(mark) for mark in tokenizer.added_tokens_decoder.values()}
        # Runs of spaces, which some vocabularies add, open nothing.
        found = sorted((mark for mark in marks if len(mark.strip()) > 1), key=len, reverse=True)
        # Looking ahead finds a mark that begins within another one too.
        self._mark = re.compile(f"(?={'|'.join(map(re.escape, found))})") if found else None

    def encode(self, prompt: Prompt, answer_start: str = "") -> list[int]:
        """The ids of the chat, opened for an answer that begins with ``answer_start``."""
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
        """Tokens of a text within a message."""
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
    """A sign that none of the texts has.

    >>> len(choose_cut(["no such sign", "two: \\ue000\\ue000"]))
    3
    """
    cut = _CUT
    while any(cut in text for text in texts):
        cut += _CUT
    return cut
