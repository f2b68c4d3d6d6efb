"""The ways to search that are held side by side."""

from __future__ import annotations

import pytest

from evaluation.retrieval.variants import VARIANTS, budget_of, choose_variants, widen
from evaluation.runs.variants import override
from nl2sql.errors import SettingsError
from tests.fakes import build_settings

SETTINGS = build_settings()


def test_one_ranking_each_then_both_then_all() -> None:
    found = choose_variants(SETTINGS)
    assert list(found) == list(VARIANTS)
    assert found["full"] == SETTINGS
    assert not found["cosine"].flags.bm25
    assert not found["bm25"].flags.cosine
    rrf = found["rrf"]
    assert rrf.flags.bm25
    assert rrf.flags.cosine
    assert rrf.retrieval.fk_expansion_limit == 0
    assert found["rrf+fk"].retrieval.fk_expansion_limit == 4
    assert found["rrf+fk"].flags.named_tables is found["rrf+fk"].flags.business_terms is False
    assert not found["rrf+fk"].flags.module_router


def test_what_the_user_sets_holds_for_all() -> None:
    settings = override(SETTINGS, ["retrieval.max_tables=5"])
    assert {budget_of(variant) for variant in choose_variants(settings).values()} == {5}


def test_some_by_name_and_none_unknown() -> None:
    assert list(choose_variants(SETTINGS, ["full", "rrf"])) == ["rrf", "full"]
    with pytest.raises(SettingsError, match=r"no variant dense.*cosine, bm25"):
        choose_variants(SETTINGS, ["dense"])


@pytest.mark.parametrize(("budget", "wide"), [(12, 24), (150, 200)])
def test_twice_the_tables_as_far_as_settings_allow(budget: int, wide: int) -> None:
    settings = override(SETTINGS, [f"retrieval.max_tables={budget}"])
    assert budget_of(widen(settings)) == wide
