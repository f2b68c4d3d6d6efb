"""Verified queries of the demo answer their paraphrases, and never a near miss."""

from __future__ import annotations

import pytest

from bench.verified import HALVES, measure
from serve_app.composition.wiring import Wiring


@pytest.mark.parametrize(("half", "least"), [("look", 49), ("hold", 47)])
async def test_paraphrases_are_found_and_no_near_miss_is(
    wiring: Wiring, half: str, least: int
) -> None:
    figures = await measure(wiring, HALVES[half])
    assert figures.wrong == ()
    assert figures.paraphrases == 60
    assert figures.found >= least
