"""A calibration is read from its file, and is careful where it was not fitted."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from nl2sql.errors import SettingsError
from ranking.confidence.calibration import PACKAGED, Calibration, Weight, load_calibration

VALUE = {
    "provenance": {"runs": ["a run"]},
    "samples": [2, 8],
    "threshold": 0.6,
    "intercept": 0.5,
    "features": {"agreement": {"mean": 0.5, "scale": 0.25, "weight": 2.0}},
}
MODEL = Calibration(0.5, (Weight("agreement", 0.5, 0.25, 2.0),), 2, 8, 0.6)


@pytest.mark.parametrize(
    ("agreement", "chance"),
    [(0.5, 0.6225), (1.0, 0.989), (0.0, 0.0293)],  # 1 / (1 + exp(-0.5)), exp(-4.5), exp(3.5)
)
def test_the_chance_is_logistic(agreement: float, chance: float) -> None:
    features = (("agreement", agreement), ("samples", 2.0))
    assert MODEL.estimate(features) == pytest.approx(chance, abs=1e-4)


def test_a_sample_that_is_missing_to_the_fewest_counts_as_one_without_a_result() -> None:
    one = MODEL.estimate((("agreement", 1.0), ("samples", 0.0)))
    assert one == MODEL.estimate((("agreement", 0.5), ("samples", 1.0)))


def test_more_samples_than_were_fitted_count_as_the_most() -> None:
    by_samples = Calibration(0.0, (Weight("samples", 2.0, 1.0, 1.0),), 2, 8)
    estimates = [by_samples.estimate((("samples", samples),)) for samples in (2.0, 3.0, 4.0)]
    assert estimates == pytest.approx([0.5, 0.7311, 0.7311], abs=1e-4)


def test_without_samples_nothing_supports_an_answer() -> None:
    assert MODEL.estimate(()) == 0


def test_a_file_is_read_as_it_was_fitted(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(VALUE))
    assert load_calibration(file) == MODEL


@pytest.mark.parametrize(
    "text", [None, "", "{}", '{"intercept": "x", "features": {}, "samples": [1]}']
)
def test_a_file_that_is_none_or_missing_is_an_error_with_a_hint(
    tmp_path: Path, text: str | None
) -> None:
    file = tmp_path / "broken.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(SettingsError, match="not a calibration"):
        load_calibration(file)


def test_what_is_packaged_says_where_it_comes_from_and_holds_for_more_than_one_model() -> None:
    provenance = json.loads(PACKAGED.read_text("utf-8"))["provenance"]
    assert {"runs", "questions", "date", "calibration_error"} <= set(provenance)
    assert len(provenance["models"]) > 1


@pytest.mark.parametrize("samples", [2, 4, 8])
def test_an_answer_on_which_all_agree_is_given_and_one_of_which_each_differs_is_not(
    samples: int,
) -> None:
    fitted = load_calibration()
    alone, all_agree = (
        fitted.estimate(
            (
                ("agreement", share),
                ("executes", 1.0),
                ("weight", share),
                ("lead", lead),
                ("empty", 0.0),
                ("derived", 0.0),
                ("samples", math.log2(samples)),
            )
        )
        for share, lead in ((1 / samples, -0.7), (1.0, math.log(samples)))
    )
    assert alone < fitted.threshold < all_agree
