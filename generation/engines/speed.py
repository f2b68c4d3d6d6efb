"""Measures an engine's speed through its ``sample`` method.

A first short request warms up the model and measures its speed roughly. From that, the two further
requests are sized, so that they take less than a second each on most machines: a prompt that is in
no cache, and four concurrent answers to it. Other load falsifies the result, so an engine is
measured when it starts.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable

from nl2sql.speed import MEASURED_K, EngineSpeed
from nl2sql.types import Completions, Message, Prompt, SamplingRequest

_WARM_WORDS = 4
_SECONDS = 0.7
_FEWEST_WORDS, _MOST_WORDS = 8, 128
_FEWEST_TOKENS, _MOST_TOKENS = 4, 64
_TOKENS_A_WORD = 6  # eight hexadecimal digits

Sample = Callable[[SamplingRequest], Awaitable[Completions]]


class MeasuredSpeed:
    """One engine's speed, measured at the first call."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._known: EngineSpeed | None = None
        self._measuring = asyncio.Lock()

    async def read(self) -> EngineSpeed:
        """The speed; concurrent callers wait for one measurement. Raises what ``sample`` raises."""
        async with self._measuring:
            if self._known is None:
                self._known = await measure_speed(self._sample)
            return self._known


async def measure_speed(sample: Sample) -> EngineSpeed:
    """Measures the speed with three requests. Raises what ``sample`` raises."""
    rough = await _measure_prompt(sample, _build_prompt(_WARM_WORDS))
    words = int(rough * _SECONDS / _TOKENS_A_WORD)
    prompt = _build_prompt(min(max(words, _FEWEST_WORDS), _MOST_WORDS))
    prompt_rate = await _measure_prompt(sample, prompt)
    # Four tokens of answers take about as long as twelve tokens of the prompt.
    tokens = min(max(int(prompt_rate * _SECONDS / 12), _FEWEST_TOKENS), _MOST_TOKENS)
    start = time.perf_counter()
    found = await sample(_build_request(prompt, MEASURED_K, tokens))
    seconds = time.perf_counter() - start
    return EngineSpeed(round(prompt_rate, 1), round(found.completion_tokens / seconds, 1))


async def _measure_prompt(sample: Sample, prompt: Prompt) -> float:
    """Tokens of the prompt per second, including the time for one token of an answer."""
    start = time.perf_counter()
    found = await sample(_build_request(prompt, 1, 1))
    return found.prompt_tokens / (time.perf_counter() - start)


def _build_request(prompt: Prompt, k: int, max_tokens: int) -> SamplingRequest:
    return SamplingRequest(prompt, k, seed=1, temperature=0.7, max_tokens=max_tokens)


def _build_prompt(words: int) -> Prompt:
    """Random words that are in no cache, and a task with a long answer."""
    text = " ".join(secrets.token_hex(4) for _ in range(words))
    return Prompt("speed", (Message("user", f"{text}\nCount from 1 to 1000."),))
