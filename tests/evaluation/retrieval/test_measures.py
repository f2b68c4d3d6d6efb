"""Figures from records, and the section of the report that shows them."""

from __future__ import annotations

import re

import pytest

from evaluation.retrieval.measures import recall, summarize
from evaluation.retrieval.report import render_section
from evaluation.retrieval.variants import VARIANTS, choose_variants
from evaluation.runs.variants import override
from nl2sql.errors import SettingsError
from tests.evaluation.retrieval.builders import build_finding, build_manifest, build_record
from tests.fakes import build_settings

WHOLE = build_finding("s.orders", "s.lines")
HALF = build_finding("s.orders", "s.x", missed=("s.lines",))


def test_recall_over_what_is_shown_and_the_first_of_it() -> None:
    record = build_record("q1", HALF)
    assert recall(record, HALF) == 0.5
    assert [recall(record, WHOLE, k) for k in (1, 2)] == [0.5, 1.0]


def test_the_figures_of_a_variant() -> None:
    pruned = build_finding("s.orders", "s.lines", missed_columns=("s.orders.total",))
    records = [build_record("q1", WHOLE), build_record("q2", HALF), build_record("q3", pruned)]
    (figures,) = summarize(build_manifest("q1", "q2", "q3"), records).variants
    assert figures.questions == 3
    assert figures.all_tables.value == pytest.approx(2 / 3)
    assert figures.tables.value == pytest.approx(2.5 / 3)
    # Of q2, only the columns of the table that is shown count.
    assert figures.columns.value == pytest.approx((1 + 1 + 2 / 3) / 3)
    assert figures.shown_tables == pytest.approx(2.0)
    assert figures.stages_ms["embed the question"].p95 == 5.0
    assert figures.stages_ms["all but embedding"].p50 == 3.0
    assert figures.missed == {"s.lines": ["q2"]}


def test_what_is_not_counted_and_what_raised_is_named_and_hostile_text_stays_text() -> None:
    hostile = "</script><img src=x onerror=alert(1)>|"
    failed = build_finding(missed=("s.li|nes", "s.orders"), error="refused", stages_ms={})
    lost = build_record("q2", WHOLE, gold_error=hostile, findings={})
    manifest = build_manifest("q1", "q2", benchmark=hostile, split="dev", one_database=True)
    figures = summarize(manifest, [build_record("q1", failed), lost])
    assert figures.not_counted == (("q2", hostile),)
    (variant,) = figures.variants
    assert (variant.all_tables.value, variant.errors) == (0.0, (("q1", "refused"),))
    text = "\n".join(render_section(manifest, figures))
    assert "2 questions, split dev, the question's schema is not given, embedder fake." in text
    assert "- error, counted as finding nothing: full, q1: refused" in text
    assert "| s.li\\|nes | 1 | q1 |" in text
    assert not re.search(r"(?<!\\)<", text)


def test_variants_are_one_ranking_each_then_both_then_all_over_the_users_settings() -> None:
    settings = override(build_settings(), ["retrieval.max_tables=5"])
    found = choose_variants(settings)
    assert list(found) == list(VARIANTS)
    assert found["full"] == settings
    assert {variant.retrieval.max_tables for variant in found.values()} == {5}
    assert not found["cosine"].flags.bm25
    assert not found["bm25"].flags.cosine
    rrf, with_keys = found["rrf"], found["rrf+fk"]
    assert rrf.flags.bm25
    assert rrf.flags.cosine
    assert (rrf.retrieval.fk_expansion_limit, with_keys.retrieval.fk_expansion_limit) == (0, 4)
    assert not with_keys.flags.module_router
    assert list(choose_variants(settings, ["full", "rrf"])) == ["rrf", "full"]
    with pytest.raises(SettingsError, match=r"no variant dense.*cosine, bm25"):
        choose_variants(settings, ["dense"])
