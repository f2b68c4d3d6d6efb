"""An engine for tests that answers a question with the question itself, read as SQL.

So a test decides by its question which query the pipeline sees. ``HANG`` keeps it waiting until it
is cancelled, which it counts. A plain class: the tests make a deployment of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from nl2sql.types import Completions, Progress, SamplingRequest
from tests.fakes import count_fake_tokens

HANG = "HANG"


class EchoEngine:
    """Says what it was asked, ``k`` times."""

    def __init__(self) -> None:
        self._waiting = 0
        self._cancelled = 0

    async def sample(self, request: SamplingRequest, caller: str = "") -> Completions:
        """The text after ``Question:`` in the prompt."""
        question = request.prompt.messages[-1].content.rpartition("Question: ")[2]
        if HANG in question:
            self._waiting += 1
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                self._cancelled += 1
                raise
        return Completions((question,) * request.k, prompt_tokens=1, completion_tokens=1)

    async def sample_observed(
        self, request: SamplingRequest, caller: str = ""
    ) -> AsyncIterator[Progress | Completions]:
        """As ``sample``, with a word before."""
        yield Progress("", 0, request.k, 1, 1)
        yield await self.sample(request)

    async def speed(self) -> None:
        """Unknown."""

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """As every fake model counts."""
        return count_fake_tokens(texts)

    async def counts(self) -> tuple[int, int]:
        """How many requests hung, and how many of them were cancelled."""
        return self._waiting, self._cancelled

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """Always well."""
        return (("engine", ""),)
