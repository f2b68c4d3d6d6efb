"""The pace of an engine and its time-out, from its speed and the settings."""

from __future__ import annotations

import pytest

from generation.sampling.pace import EnginePace
from nl2sql.errors import EngineUnavailable
from nl2sql.speed import EngineSpeed, Pace, choose_sampling_timeout_s
from tests.fakes import FakeEngine, build_settings

SPEED = EngineSpeed(100, 40)
MODEL = "qwen2.5-coder-0.5b-instruct"


class MeasuredEngine(FakeEngine):
    """Does not answer as long as ``failures`` last."""

    def __init__(self, failures: int = 0) -> None:
        super().__init__()
        self.failures = failures
        self.asked = 0

    async def speed(self) -> EngineSpeed | None:  # type: ignore[override]
        self.asked += 1
        if self.asked <= self.failures:
            raise EngineUnavailable("Down.")
        return SPEED


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [({}, 60.0), ({"sampling_timeout_ms": 1500}, 1.5), ({"sampling_timeout_ms": 0}, None)],
    ids=["unset", "set", "never"],
)
async def test_the_time_out_is_the_one_set_or_follows_from_the_speed(
    limits: dict[str, int], seconds: float | None
) -> None:
    engine = MeasuredEngine()
    pace = EnginePace(engine, build_settings(limits=limits))
    assert await pace.read() == await pace.read() == Pace(SPEED, seconds, MODEL)
    assert engine.asked == 1


async def test_an_engine_that_does_not_answer_is_asked_again() -> None:
    pace = EnginePace(MeasuredEngine(failures=1), build_settings())
    assert await pace.read() == Pace(None, 60.0, MODEL)
    assert (await pace.read()).speed == SPEED


@pytest.mark.parametrize(
    ("speed", "seconds"),
    [(EngineSpeed(20_000, 2000), 20), (SPEED, 60), (EngineSpeed(5, 2), 120), (None, 60)],
    ids=["a GPU", "two cores", "a slow machine", "unknown"],
)
def test_the_default_time_out_follows_from_it(speed: EngineSpeed | None, seconds: float) -> None:
    assert choose_sampling_timeout_s(speed) == seconds
