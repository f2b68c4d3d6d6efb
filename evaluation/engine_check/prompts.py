"""Prompts of a given length whose words are random, so that no cache knows them by chance."""

from __future__ import annotations

from random import Random

from nl2sql.protocols import Engine
from nl2sql.types import Message, Prompt

_TASK = "Count from 1 to 1000 in words."
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SAMPLE_WORDS = 1000


def write_task(beginning: str) -> Prompt:
    """A short task with a long answer after ``beginning``."""
    return Prompt("check", (Message("user", f"{beginning}\n{_TASK}"),))


def write_words(count: int, tag: str) -> str:
    """``count`` words that depend on ``tag`` alone.

    >>> write_words(2, "a") == write_words(2, "a") != write_words(2, "b")
    True
    """
    draw = Random(tag)
    return " ".join("".join(draw.choices(_LETTERS, k=draw.randint(3, 9))) for _ in range(count))


async def measure_word(engine: Engine) -> float:
    """Tokens of a word of ``write_words``, on average. Raises EngineUnavailable."""
    (tokens,) = await engine.count_tokens((write_words(_SAMPLE_WORDS, "sample"),))
    return tokens / _SAMPLE_WORDS
