from __future__ import annotations

import pytest

from nl2sql.pipeline.clock import StageClock


async def test_a_stage_that_runs_twice_adds_up() -> None:
    clock = StageClock()
    for tokens in (3, 4):
        async with clock.time("generate"):
            pass
        clock.add_tokens(tokens, 1)
    (timing,) = clock.timings
    assert (timing.stage, timing.prompt_tokens, timing.completion_tokens) == ("generate", 7, 2)


async def test_a_stage_that_raises_is_timed_too() -> None:
    clock = StageClock()
    with pytest.raises(ValueError, match="broken"):
        async with clock.time("plan"):
            raise ValueError("broken")
    assert [timing.stage for timing in clock.timings] == ["plan"]
