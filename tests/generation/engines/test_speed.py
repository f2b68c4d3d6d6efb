"""Measuring an engine's speed."""

from __future__ import annotations

import asyncio

from generation.engines.speed import measure_speed
from nl2sql.speed import MEASURED_K
from nl2sql.types import Completions, SamplingRequest


class SteadyEngine:
    """Reads 1,000 tokens a second that it does not know, and writes 500."""

    def __init__(self) -> None:
        self.requests: list[SamplingRequest] = []
        self._known = ""

    async def sample(self, request: SamplingRequest) -> Completions:
        self.requests.append(request)
        text = request.prompt.messages[0].content
        prompt, answer = len(text) // 4, request.k * request.max_tokens
        read = 0 if text == self._known else prompt
        self._known = text
        await asyncio.sleep(read / 1000 + (answer / 500 if request.max_tokens > 1 else 0))
        return Completions(("1",) * request.k, prompt, answer)


async def test_the_rates_are_those_of_the_engine() -> None:
    engine = SteadyEngine()
    speed = await measure_speed(engine.sample)
    # Only ever slower than that: the machine may have other work.
    assert 200 < speed.prompt_tokens_per_s <= 1000
    assert 100 < speed.answer_tokens_per_s <= 500


async def test_no_prompt_is_in_a_cache_but_the_one_that_is_answered() -> None:
    first, second = SteadyEngine(), SteadyEngine()
    for engine in (first, second):
        await measure_speed(engine.sample)
    prompts = [request.prompt.messages[0].content for request in first.requests + second.requests]
    assert len(set(prompts)) == 4
    warm, read, answered = first.requests
    assert (warm.k, read.k, answered.k) == (1, 1, MEASURED_K)
    assert read.prompt == answered.prompt
