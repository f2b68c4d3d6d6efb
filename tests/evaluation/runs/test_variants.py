"""Which runs a command makes."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.runs.variants import (
    build_ablation,
    build_variant,
    build_variants,
    override,
    parse_count,
)
from nl2sql.errors import SettingsError
from nl2sql.settings import FlagSettings
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


def test_an_ablation_switches_each_flag_off_in_turn() -> None:
    settings = override(SETTINGS, [f"{name}=true" for name in FlagSettings.model_fields])
    full, *rest = build_ablation(settings, 4)
    assert full.settings == settings
    assert [variant.name for variant in rest] == [
        f"without {name}" for name in FlagSettings.model_fields
    ]
    for variant in rest:
        flags = variant.settings.flags.model_dump()
        assert [name for name, on in flags.items() if not on] == [
            variant.name.removeprefix("without ")
        ]


def test_an_ablation_leaves_out_what_is_off_already() -> None:
    settings = override(SETTINGS, ["bm25=false"])
    assert "without bm25" not in [variant.name for variant in build_ablation(settings, 4)]
    with pytest.raises(SettingsError, match="No flag that is on is called bm25"):
        build_ablation(settings, 4, ["bm25"])


def test_a_command_makes_one_run_a_curve_or_an_ablation() -> None:
    def list_names(*arguments: Any) -> list[str]:
        return [variant.name for variant in build_variants(SETTINGS, *arguments)]

    assert list_names(()) == [f"K={SETTINGS.sampling.k or 'adaptive'}"]
    assert list_names((), "plain") == ["plain"]
    assert list_names((1, 4, 4), "plain") == ["plain", "K=1", "K=4"]
    assert list_names((4,), "", ["bm25"]) == ["all stages", "without bm25"]
    assert len(list_names((4,), "", ["all"])) > 5


@pytest.mark.parametrize(("counts", "baseline"), [((4, 8), ""), ((4,), "plain")])
def test_an_ablation_is_for_one_k_and_no_baseline(counts: tuple[int, ...], baseline: str) -> None:
    with pytest.raises(SettingsError, match="one K"):
        build_variants(SETTINGS, counts, baseline, ["bm25"])
