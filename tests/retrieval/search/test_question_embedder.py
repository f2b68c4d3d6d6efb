"""Questions asked at the same time are embedded together, each gets its own vector."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from nl2sql.errors import SettingsError
from retrieval.search.question_embedder import QuestionEmbedder
from tests.fakes import FakeEmbedder


class SlowEmbedder(FakeEmbedder):
    """Waits for leave before the first batch; an impossible text fails its whole batch."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.leave = threading.Event()
        self.batches: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        self.entered.set()
        self.leave.wait(10)
        if "impossible" in texts:
            raise SettingsError("The model cannot be loaded.")
        return super().embed(texts)


async def test_what_comes_while_a_batch_runs_is_the_next_batch() -> None:
    slow = SlowEmbedder()
    embedder = QuestionEmbedder(slow)
    words = [f"word{number}" for number in range(40)]
    tasks = [asyncio.create_task(embedder.embed("first"))]
    await asyncio.to_thread(slow.entered.wait, 10)
    tasks += [asyncio.create_task(embedder.embed(word)) for word in words]
    await asyncio.sleep(0)
    slow.leave.set()
    vectors = await asyncio.gather(*tasks)
    assert [len(batch) for batch in slow.batches] == [1, 32, 8]
    for word, vector in zip(["first", *words], vectors, strict=True):
        assert np.array_equal(vector, FakeEmbedder().embed([word])[0])


async def test_an_error_reaches_all_who_wait_and_the_next_batch_runs() -> None:
    slow = SlowEmbedder()
    slow.leave.set()
    embedder = QuestionEmbedder(slow)
    outcomes = await asyncio.gather(
        embedder.embed("impossible"), embedder.embed("possible"), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [SettingsError, SettingsError]
    assert len(await embedder.embed("possible")) == 64
    with pytest.raises(SettingsError):
        await embedder.embed("impossible")
