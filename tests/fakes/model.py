"""Language models for tests, with queued answers or none."""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.types import Completions, SamplingRequest
from tests.fakes.queue import Queue


def count_fake_tokens(texts: tuple[str, ...]) -> tuple[int, ...]:
    """The token counts of all fake models: one for every four letters begun."""
    return tuple(-(-len(text) // 4) for text in texts)


class StubEngine:
    """Base of fake engines: the speed is unknown, and sampling fails the test."""

    async def sample(self, request: SamplingRequest) -> Completions:
        """Raises AssertionError."""
        raise AssertionError("no model may be asked here")

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """A token for every four letters begun."""
        return count_fake_tokens(texts)


class FakeEngine(StubEngine):
    """A language model with queued answers: each entry holds the texts of one request."""

    def __init__(self, *answers: Sequence[str] | Exception) -> None:
        self._queue = Queue("FakeEngine", answers)
        self.requests: list[SamplingRequest] = []
        self.counted: list[tuple[str, ...]] = []

    async def sample(self, request: SamplingRequest) -> Completions:
        """The next texts, at 100 prompt tokens and 10 completion tokens a text."""
        self.requests.append(request)
        texts = self._queue.next(Sequence, request)  # type: ignore[type-abstract]
        return Completions(tuple(texts), prompt_tokens=100, completion_tokens=10 * len(texts))

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """Counts as every fake; ``counted`` has the texts of each call."""
        self.counted.append(texts)
        return count_fake_tokens(texts)
