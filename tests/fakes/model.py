"""A language model that says what a test tells it to."""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.types import Completions, SamplingRequest
from tests.fakes.queue import Queue


def count_fake_tokens(texts: tuple[str, ...]) -> tuple[int, ...]:
    """What every fake model takes a text for: a token for every four letters begun."""
    return tuple(-(-len(text) // 4) for text in texts)


class FakeEngine:
    """A language model that says what is queued: the texts of one request an entry."""

    def __init__(self, *answers: Sequence[str] | Exception) -> None:
        self._queue = Queue("FakeEngine", answers)
        self.requests: list[SamplingRequest] = []
        self.counted: list[tuple[str, ...]] = []

    async def sample(self, request: SamplingRequest) -> Completions:
        """The next texts, at 100 prompt tokens and 10 completion tokens a text."""
        self.requests.append(request)
        texts = self._queue.next(Sequence, request)  # type: ignore[type-abstract]
        return Completions(tuple(texts), prompt_tokens=100, completion_tokens=10 * len(texts))

    async def speed(self) -> None:
        """Unknown."""

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """A token for every four letters begun."""
        self.counted.append(texts)
        return count_fake_tokens(texts)
