"""An engine for tests that answers a question with the question itself, read as SQL.

So a test decides by its question which query the pipeline sees. ``HANG`` keeps it waiting until it
is cancelled, which it counts. ``EchoReplica`` runs it in a replica.
"""

from __future__ import annotations

import asyncio

from nl2sql.progress import report_sampling
from nl2sql.types import Completions, Progress, SamplingRequest
from tests.fakes import StubEngine

HANG = "HANG"


class EchoEngine(StubEngine):
    """Says what it was asked, ``k`` times."""

    def __init__(self) -> None:
        self._waiting = 0
        self._cancelled = 0

    async def sample(self, request: SamplingRequest) -> Completions:
        """The text after ``Question:`` in the prompt."""
        report_sampling(request, Progress("", 0, request.k, 1, 1))
        question = request.prompt.messages[-1].content.rpartition("Question: ")[2]
        if HANG in question:
            self._waiting += 1
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                self._cancelled += 1
                raise
        return Completions((question,) * request.k, prompt_tokens=1, completion_tokens=1)

    async def counts(self) -> tuple[int, int]:
        """How many requests hung, and how many of them were cancelled."""
        return self._waiting, self._cancelled

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """Always well."""
        return (("engine", ""),)
