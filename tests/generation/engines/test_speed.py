"""Measuring an engine's speed."""

from __future__ import annotations

from generation.engines.speed import measure_speed
from nl2sql.speed import MEASURED_K
from nl2sql.types import Completions, SamplingRequest


class NotingEngine:
    """Answers at once."""

    def __init__(self) -> None:
        self.requests: list[SamplingRequest] = []

    async def sample(self, request: SamplingRequest) -> Completions:
        self.requests.append(request)
        prompt = len(request.prompt.messages[0].content) // 4
        return Completions(("1",) * request.k, prompt, request.k * request.max_tokens)


async def test_no_prompt_is_in_a_cache_but_the_one_that_is_answered() -> None:
    first, second = NotingEngine(), NotingEngine()
    for engine in (first, second):
        await measure_speed(engine.sample)
    prompts = [request.prompt.messages[0].content for request in first.requests + second.requests]
    assert len(set(prompts)) == 4
    warm, read, answered = first.requests
    assert (warm.k, read.k, answered.k) == (1, 1, MEASURED_K)
    assert read.prompt == answered.prompt
