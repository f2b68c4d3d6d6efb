"""Which runs a command makes."""

from __future__ import annotations

import pytest

from nl2sql.errors import SettingsError
from serve_app.operations.variants import build_variant, build_variants, override, parse_count
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
    ("k", "baseline", "message"),
    [
        (None, "fancy", "no baseline 'fancy'"),
        (-1, "", "K must be from 1 to 32, or adaptive; it is"),
        (33, "", "K must be from 1 to 32, or adaptive; it is"),
    ],
)
def test_a_variant_that_there_is_not_is_an_error(
    k: int | None, baseline: str, message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        build_variant(SETTINGS, k, baseline)


def test_adaptive_is_a_k_of_its_own() -> None:
    assert [parse_count(text) for text in ("8", " 16", "adaptive")] == [8, 16, 0]
    variant = build_variant(SETTINGS, parse_count("adaptive"), "")
    assert (variant.name, variant.k) == ("K=adaptive", 0)


@pytest.mark.parametrize("text", ["0", "-1", "many", "", "1.5"])
def test_what_is_no_k_is_an_error_that_says_so(text: str) -> None:
    with pytest.raises(SettingsError, match="this is no number from 1"):
        parse_count(text)


@pytest.mark.parametrize(
    ("counts", "baseline", "names"),
    [
        ((), "", [f"K={SETTINGS.sampling.k or 'adaptive'}"]),
        ((), "plain", ["plain"]),
        ((1, 4, 4), "plain", ["plain", "K=1", "K=4"]),
    ],
)
def test_a_command_makes_a_run_for_each_k_and_the_baseline(
    counts: tuple[int, ...], baseline: str, names: list[str]
) -> None:
    assert [variant.name for variant in build_variants(SETTINGS, counts, baseline)] == names
