"""Questions a minute and latencies of an engine under a load of questions like the pipeline's.

The load is closed: so many questions are always in flight, each about the next of the modules,
whose schema is the shared beginning of its prompts. All answers have the same length, so figures of
different models compare.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import dataclass

from evaluation.engine_check.behaviour import measure_word, write_task, write_words
from evaluation.metrics.statistics import percentile
from nl2sql.protocols import Engine
from nl2sql.types import SamplingRequest


@dataclass(frozen=True, slots=True)
class Shape:
    """Tokens of a question: shared with others of its module, its own, and of each answer."""

    modules: int = 20
    shared_tokens: int = 600
    own_tokens: int = 300
    answer_tokens: int = 64


@dataclass(frozen=True, slots=True)
class MeasuredLoad:
    """What one load gave. ``seconds`` is the time from the first question to the last answer."""

    k: int
    concurrency: int
    questions: int
    seconds: float
    prompt_tokens: int
    answer_tokens: int
    p50_s: float
    p95_s: float

    @property
    def per_minute(self) -> float:
        """Questions a minute."""
        return 60 * self.questions / self.seconds


class LoadGenerator:
    """Asks an engine questions of one shape."""

    def __init__(self, engine: Engine, shape: Shape, tokens_per_word: float) -> None:
        self._engine = engine
        self._shape = shape
        self._own_words = round(shape.own_tokens / tokens_per_word)
        words = round(shape.shared_tokens / tokens_per_word)
        self._modules = [write_words(words, f"module {each}") for each in range(shape.modules)]
        self._numbers = itertools.count()

    @classmethod
    async def build(cls, engine: Engine, shape: Shape) -> LoadGenerator:
        """Lets the engine read each module's beginning once."""
        made = cls(engine, shape, await measure_word(engine))
        await asyncio.gather(*(made._ask(1, 1) for _ in made._modules))
        return made

    async def measure(self, k: int, concurrency: int, seconds: float) -> MeasuredLoad:
        """Asks for ``seconds``, then waits for the answers in flight.

        Raises what the engine raises.
        """
        latencies: list[float] = []
        tokens = [0, 0]
        start = time.perf_counter()

        async def ask_in_turn() -> None:
            while time.perf_counter() - start < seconds:
                asked = time.perf_counter()
                prompt_tokens, answer_tokens = await self._ask(k, self._shape.answer_tokens)
                latencies.append(time.perf_counter() - asked)
                tokens[0] += prompt_tokens
                tokens[1] += answer_tokens

        await asyncio.gather(*(ask_in_turn() for _ in range(concurrency)))
        return MeasuredLoad(
            k,
            concurrency,
            len(latencies),
            time.perf_counter() - start,
            tokens[0],
            tokens[1],
            percentile(latencies, 50),
            percentile(latencies, 95),
        )

    async def _ask(self, k: int, answer_tokens: int) -> tuple[int, int]:
        number = next(self._numbers)
        module = self._modules[number % len(self._modules)]
        own = write_words(self._own_words, f"question {number}")
        request = SamplingRequest(
            write_task(f"{module}\n{own}"),
            k,
            seed=number,
            temperature=1.0,
            max_tokens=answer_tokens,
        )
        found = await self._engine.sample(request)
        return found.prompt_tokens, found.completion_tokens
