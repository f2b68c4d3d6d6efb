"""Engines that die for good in a long run are opened anew."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql.errors import EngineUnavailable
from nl2sql.types import Completions, Prompt, SamplingRequest
from serve_app.composition.reopening_engine import ReopeningEngine, describe_problem
from tests.fakes import FakeEngine

REQUEST = SamplingRequest(Prompt("p", ()), 1, 0, 0.0, 9)


class MortalEngine:
    """Answers with its number, so many times; then it is dead."""

    def __init__(self, number: int, answers: int) -> None:
        self.number, self.left = number, answers
        self.closed = False

    async def sample(self, request: SamplingRequest) -> Completions:
        self.left -= 1
        if self.left < 0:
            raise EngineUnavailable("RPC call to execute_model timed out.")
        return Completions((str(self.number),), prompt_tokens=1, completion_tokens=1)

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        return (1,) * len(texts)

    async def probe(self) -> tuple[tuple[str, str], ...]:
        return (("engine", ""),)

    async def requests_in_flight(self) -> int:
        return 0

    def check_health(self) -> None:
        if self.left < 0:
            raise EngineUnavailable("It has died.")

    async def close(self) -> None:
        assert not self.closed
        self.closed = True


class Opener:
    """Opens one engine after the other; ``failures`` come after the first."""

    def __init__(self, *answers: int, failures: int = 0) -> None:
        self.engines = [MortalEngine(at, count) for at, count in enumerate(answers)]
        self.queue: list[Any] = [
            self.engines[0],
            *(EngineUnavailable("No memory yet.") for _ in range(failures)),
            *self.engines[1:],
        ]

    def __call__(self) -> Any:
        found = self.queue.pop(0)
        if isinstance(found, EngineUnavailable):
            raise found
        return found


async def test_a_dead_engine_is_closed_and_opened_anew_when_asked_how_it_is() -> None:
    opener = Opener(1, 1, failures=2)
    engine: Any = ReopeningEngine(opener)
    assert await describe_problem(engine) == ""
    assert (await engine.sample(REQUEST)).texts == ("0",)
    with pytest.raises(EngineUnavailable, match="timed out"):
        await engine.sample(REQUEST)
    assert [await describe_problem(engine) for _ in range(2)] == ["No memory yet."] * 2
    with pytest.raises(EngineUnavailable, match="has died"):
        await engine.sample(REQUEST)
    assert await describe_problem(engine) == ""
    assert (await engine.sample(REQUEST)).texts == ("1",)
    await engine.close()
    assert [engine.closed for engine in opener.engines] == [True, True]


async def test_an_engine_that_does_not_tell_is_taken_for_well() -> None:
    assert await describe_problem(FakeEngine(["x"])) == ""
