"""What follows from an engine's speed."""

from __future__ import annotations

import pytest

from nl2sql.speed import EngineSpeed, choose_sampling_timeout_s


@pytest.mark.parametrize(
    ("speed", "seconds"),
    [
        pytest.param(EngineSpeed(20_000, 2000), 20, id="a GPU"),
        pytest.param(EngineSpeed(100, 40), 60, id="two cores"),
        pytest.param(EngineSpeed(5, 2), 120, id="a slow machine"),
        pytest.param(None, 60, id="unknown"),
    ],
)
def test_the_default_time_out_follows_from_it(speed: EngineSpeed | None, seconds: float) -> None:
    assert choose_sampling_timeout_s(speed) == seconds
