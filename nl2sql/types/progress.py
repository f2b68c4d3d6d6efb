"""How far a question is, for whoever waits for its answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` of ``total`` of what a stage works on: candidates; 0 of 0 where nothing is counted.

    Where the language model works: how many of the ``prompt_tokens`` it has read, and how many
    ``answer_tokens`` it has written, in all candidates together.
    """

    stage: str
    done: int = 0
    total: int = 0
    prompt_tokens_read: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
