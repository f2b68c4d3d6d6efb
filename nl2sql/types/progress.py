"""The progress of a question, for clients that wait for its answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """A stage has processed ``done`` of ``total`` candidates; 0 of 0 if it counts none.

    While the language model runs: how many of the ``prompt_tokens`` it has read, and how many
    ``answer_tokens`` it has written, in all candidates together.
    """

    stage: str
    done: int = 0
    total: int = 0
    prompt_tokens_read: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
