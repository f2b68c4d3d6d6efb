"""Which runs a command makes."""

from __future__ import annotations

import pytest

from nl2sql.errors import SettingsError
from quorumsql.contract.model import CandidateCount
from serve_app.operations.variants import build_variants, override
from tests.fakes import build_settings

SETTINGS = build_settings()


def test_a_bare_key_is_a_flag_and_a_dotted_one_a_section() -> None:
    changed = override(SETTINGS, ["bm25=false", "sampling.temperature=0.25", "model.name=abc"])
    assert changed.flags.bm25 is False
    assert changed.sampling.temperature == 0.25
    assert changed.model.name == "abc"
    assert SETTINGS.flags.bm25 is True


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        pytest.param("bm52=false", "did you mean 'bm25'", id="nearest flag"),
        pytest.param("sampling.temprature=1", "did you mean 'temperature'", id="nearest key"),
        pytest.param("bm25", "not KEY=VALUE", id="no value"),
        pytest.param("sampling.k=-1", "sampling.k", id="out of range"),
        pytest.param("sampling..k=1", "not KEY=VALUE", id="empty part"),
        pytest.param("home.x=1", "home", id="no section"),
    ],
)
def test_a_wrong_assignment_is_an_error_that_helps(assignment: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        override(SETTINGS, [assignment])


@pytest.mark.parametrize(
    ("counts", "baseline", "names"),
    [
        ((), "", [f"K={SETTINGS.sampling.k}"]),
        ((), "plain", ["plain"]),
        ((1, "adaptive", 1), "plain", ["plain", "K=1", "K=adaptive"]),
    ],
)
def test_a_command_makes_a_run_for_each_k_and_the_baseline(
    counts: tuple[CandidateCount, ...], baseline: str, names: list[str]
) -> None:
    assert [variant.name for variant in build_variants(SETTINGS, counts, baseline)] == names
